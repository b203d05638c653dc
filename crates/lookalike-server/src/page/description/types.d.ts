// The parts of an OpenAPI description that the page of the API shows.

export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
};

/** Schemas by media type. */
export type Content = Record<string, { schema?: JsonSchema }>;

export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema?: JsonSchema;
  description?: string;
};

export type ResponseObject = { $ref?: string; description?: string; content?: Content };

/** An operation as in the description, without its method and path. */
export type OperationObject = {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Content };
  responses: Record<string, ResponseObject>;
  "x-right"?: "read" | "decide" | "write";
};

export type HttpMethod = "get" | "put" | "post" | "delete";

export type PathItem = { [Method in HttpMethod]?: OperationObject } & { parameters?: Parameter[] };

export type Description = { paths: Record<string, PathItem> };

/** An operation with its method and path, and with the parameters of its path. */
export type Operation = OperationObject & {
  id: string;
  method: string;
  path: string;
  parameters: Parameter[];
  right?: OperationObject["x-right"];
};

export type SchemaReader = ReturnType<typeof import("./schema.js").schemaReader>;
