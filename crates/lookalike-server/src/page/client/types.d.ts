// Types of the API. `cargo x lint` generates `#api` from openapi.json.

import type { components, paths } from "#api";

type Schemas = components["schemas"];

/** A schema of the description by its name. */
export type Schema<Name extends keyof Schemas> = Schemas[Name];

export type Match = Schema<"Match">;
export type Matches = Schema<"Matches">;
export type Query = Schema<"Query">;
export type Comparison = Schema<"Compared">;
export type Difference = NonNullable<Comparison["differences"]>[number];
export type KnownPassages = Schema<"FoundPassages">;
export type KnownPassage = KnownPassages["passages"][number];
export type FileTexts = Schema<"Extracted">;
export type FileText = FileTexts["parts"][number];
export type Settings = Schema<"Settings">;
export type Stats = Schema<"Stats">;
export type IndexDocument = Schema<"Document">;
export type Documents = Schema<"Documents">;
export type Version = Schema<"Version">;
export type Categories = Schema<"Categories">;
export type CategoryNode = Categories["categories"][number];
export type Groups = Schema<"Groups">;
export type Group = Groups["groups"][number];
export type Keeper = Group["keeper"];
export type Duplicate = Group["duplicates"][number];
export type NewDecision = Schema<"Decisions">["decisions"][number];
export type StoredDecision = Schema<"DecisionList">["decisions"][number];
export type DecisionKind = StoredDecision["decision"];
export type Conflict = NonNullable<Schema<"Problem">["conflicts"]>[number];
export type Agreements = Schema<"Agreements">;
export type ServedIndex = Schema<"ServedIndex">;

/** The decision about a member of a group; undefined if undecided. */
export type MemberDecision = Duplicate["decision"];
/**
 * A document of a group. The page shows `decision`. `pairDecision` is the decision about the pair
 * of the document and its keeper, which `decision` does not name while the document is kept.
 */
export type Member = { id: string; decision?: MemberDecision; pairDecision?: MemberDecision };
/** Documents and the current decision about them, undefined if one of them was removed. */
export type PresentDecision = Pick<Conflict, "documents" | "current">;

export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** A path of the description with any text for each parameter, such as `v1/documents/${string}`. */
type Filled<Path> = Path extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string}${Filled<After>}`
  : Path;

type Below<Path> = Path extends `/${infer Rest}` ? Filled<Rest> : never;

/** Addresses below the page, with or without parameters. */
export type Address = Below<keyof paths> | `${Below<keyof paths>}?${string}`;

/** An address without its parameters. */
type PathOf<A extends Address> = A extends `${infer Path}?${string}` ? Path : A;

/** The path of the description for an address; `never` if the description has none. */
type Described<A extends Address> = {
  [Path in keyof paths]: [PathOf<A>, Below<Path>] extends [Below<Path>, PathOf<A>] ? Path : never;
}[keyof paths];

/** The operation of a method at an address. */
type Operation<M extends Method, A extends Address> =
  Described<A> extends infer Path extends keyof paths
    ? paths[Path][Lowercase<M> & keyof paths[Path]]
    : never;

type Json<Content> = Content extends { content: { "application/json": infer Value } }
  ? Value
  : undefined;

type Responses<Op> = Op extends { responses: infer All } ? All : never;

/** The JSON of a successful response; `undefined` for a response without one. */
export type Answer<M extends Method, A extends Address> =
  Responses<Operation<M, A>> extends infer All
    ? { [Status in keyof All & (200 | 201 | 202 | 204)]: Json<All[Status]> }[keyof All &
        (200 | 201 | 202 | 204)]
    : never;

/** The JSON of a request; `undefined` for an operation without one. */
export type Body<M extends Method, A extends Address> =
  Operation<M, A> extends { requestBody?: infer Given } ? Json<NonNullable<Given>> : undefined;
