//! Converts values of Arrow columns to JSON for metadata.

use crate::arrow::column::type_name;
use crate::input::text;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, RunEndIndexType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, UnionFields};
use lookalike::store::entry::{MAX_METADATA_BYTES, Metadata};
use serde_json::{Number, Value};
use std::ops::Range;

/// The reason why a value cannot be converted to JSON, and the path of this value in the row.
pub(super) struct ValueError {
    /// The path, from the innermost name to the outermost.
    path: Vec<String>,
    pub(super) why: ValueErrorKind,
}

pub(super) enum ValueErrorKind {
    /// JSON has no values of this type.
    Type(String),
    /// JSON cannot represent this number.
    Number(f64),
    /// A struct has several members of the same name.
    Twice(String),
    /// The value exceeds the maximum size of metadata.
    TooMuch,
    /// The data of the producer is inconsistent.
    Damaged(String),
}

impl ValueError {
    /// Returns the path with the name of its column, such as `tags.0`.
    pub(super) fn path(&self, column: &str) -> String {
        let inner = self.path.iter().rev().map(String::as_str);
        std::iter::once(column).chain(inner).collect::<Vec<_>>().join(".")
    }

    fn inside(mut self, of: impl ToString) -> Self {
        self.path.push(of.to_string());
        self
    }
}

impl From<ValueErrorKind> for ValueError {
    fn from(why: ValueErrorKind) -> Self {
        Self { path: Vec::new(), why }
    }
}

type ReadResult = Result<Value, ValueError>;

/// Reads the values of one document. Their depth is limited, because `c_data` limits the depth of
/// types. The maximum size of metadata limits their number, because a producer can declare a list
/// with more values than fit in memory.
pub(super) struct ValueReader {
    /// Remaining bytes of JSON.
    remaining: usize,
    /// Whether nested values are allowed.
    nests: bool,
}

impl ValueReader {
    pub(super) fn new() -> Self {
        Self { remaining: MAX_METADATA_BYTES, nests: true }
    }

    /// Creates a reader for a single text. It limits no length: other code checks
    /// the length of texts.
    pub(super) fn of_text() -> Self {
        Self { remaining: usize::MAX, nests: false }
    }

    /// Converts the value of a row of a column.
    pub(super) fn value(&mut self, array: &dyn Array, field: &Field, row: usize) -> ReadResult {
        const EXTENSION: &str = "ARROW:extension:name";
        let extension = || field.metadata().get(EXTENSION).map(String::as_str);
        let value = self.of_type(array, field.data_type(), row)?;
        if *field.data_type() == DataType::Int8 && extension() == Some("arrow.bool8") {
            return Ok(value.as_i64().map_or(value, |number| Value::Bool(number != 0)));
        }
        Ok(value)
    }

    fn of_type(&mut self, array: &dyn Array, kind: &DataType, row: usize) -> ReadResult {
        self.spend(1)?;
        if row >= array.len() {
            return Err(damaged("a part of it has too few values"));
        }
        if array.is_null(row) {
            return Ok(Value::Null);
        }
        match kind {
            DataType::Null => Ok(Value::Null),
            DataType::Boolean => Ok(Value::Bool(array.as_boolean().value(row))),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => self.text(array, row),
            DataType::Dictionary(_, values) => self.in_dictionary(array, values, row),
            DataType::Struct(fields) => self.members(array, fields, row),
            DataType::Union(fields, _) => self.in_union(array, fields, row),
            DataType::RunEndEncoded(ends, values) => {
                self.in_runs(array, ends.data_type(), values, row)
            }
            _ => match number(array, kind, row) {
                Some(number) => number,
                None => self.several(array, kind, row),
            },
        }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), ValueError> {
        self.remaining = self.remaining.checked_sub(bytes).ok_or(ValueErrorKind::TooMuch)?;
        Ok(())
    }

    fn nest(&self, kind: &DataType) -> Result<(), ValueError> {
        if self.nests { Ok(()) } else { Err(ValueErrorKind::Type(name_of(kind)).into()) }
    }

    fn text(&mut self, array: &dyn Array, row: usize) -> ReadResult {
        let text = text::of_row(array, row).map_err(ValueErrorKind::Damaged)?;
        self.spend(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn in_dictionary(&mut self, array: &dyn Array, kind: &DataType, row: usize) -> ReadResult {
        let dictionary = array.as_any_dictionary();
        let keys = dictionary.keys();
        let values = dictionary.values();
        let key = text::key(keys, row);
        if key >= values.len() {
            return Err(ValueErrorKind::Damaged(text::no_key(values.len())).into());
        }
        self.of_type(values.as_ref(), kind, key)
    }

    fn members(&mut self, array: &dyn Array, fields: &[FieldRef], row: usize) -> ReadResult {
        let mut members = Metadata::new();
        self.nest(array.data_type())?;
        for (field, column) in fields.iter().zip(array.as_struct().columns()) {
            let name = field.name();
            self.spend(name.len())?;
            let value = self.value(column.as_ref(), field, row);
            let value = value.map_err(|wrong| wrong.inside(name))?;
            if members.insert(name.clone(), value).is_some() {
                return Err(ValueErrorKind::Twice(name.clone()).into());
            }
        }
        Ok(Value::Object(members))
    }

    fn in_union(&mut self, array: &dyn Array, fields: &UnionFields, row: usize) -> ReadResult {
        let union = array.as_union();
        let id = union.type_ids().get(row).copied();
        let Some((id, field)) = fields.iter().find(|(known, _)| Some(*known) == id) else {
            return Err(damaged("a value of it is of none of its types"));
        };
        let place = match union.offsets() {
            None => Some(row),
            Some(offsets) => offsets.get(row).and_then(|place| usize::try_from(*place).ok()),
        };
        self.value(union.child(id).as_ref(), field, place.unwrap_or(usize::MAX))
    }

    fn in_runs(
        &mut self,
        array: &dyn Array,
        ends: &DataType,
        field: &Field,
        row: usize,
    ) -> ReadResult {
        match ends {
            DataType::Int16 => self.in_runs_of::<Int16Type>(array, field, row),
            DataType::Int32 => self.in_runs_of::<Int32Type>(array, field, row),
            _ => self.in_runs_of::<Int64Type>(array, field, row),
        }
    }

    fn in_runs_of<R: RunEndIndexType>(
        &mut self,
        array: &dyn Array,
        field: &Field,
        row: usize,
    ) -> ReadResult {
        let runs = array.as_run::<R>();
        self.value(runs.values().as_ref(), field, runs.get_physical_index(row))
    }

    /// Converts a list, or a map, which is a list of pairs.
    fn several(&mut self, array: &dyn Array, kind: &DataType, row: usize) -> ReadResult {
        self.nest(kind)?;
        match kind {
            DataType::List(field) => self.list::<i32>(array, row, field),
            DataType::LargeList(field) => self.list::<i64>(array, row, field),
            DataType::ListView(field) => self.list_view::<i32>(array, row, field),
            DataType::LargeListView(field) => self.list_view::<i64>(array, row, field),
            DataType::FixedSizeList(field, size) => {
                let size = usize::try_from(*size).ok();
                let list = array.as_fixed_size_list();
                let start = size.and_then(|size| row.checked_mul(size));
                self.values(list.values(), field, start.zip(size))
            }
            DataType::Map(entries, _) => self.map(array, entries, row),
            other => Err(ValueErrorKind::Type(name_of(other)).into()),
        }
    }

    fn list<O: OffsetSizeTrait>(
        &mut self,
        array: &dyn Array,
        row: usize,
        of: &Field,
    ) -> ReadResult {
        let list = array.as_list::<O>();
        self.values(list.values(), of, range(list.value_offsets(), row))
    }

    fn list_view<O: OffsetSizeTrait>(
        &mut self,
        array: &dyn Array,
        row: usize,
        of: &Field,
    ) -> ReadResult {
        let list = array.as_list_view::<O>();
        let place = |numbers: &[O]| numbers.get(row).and_then(|number| number.to_usize());
        let range = place(list.value_offsets()).zip(place(list.value_sizes()));
        self.values(list.values(), of, range)
    }

    /// Converts consecutive values to a list. `bounds` contains their start and their number.
    fn values(
        &mut self,
        array: &dyn Array,
        field: &Field,
        bounds: Option<(usize, usize)>,
    ) -> ReadResult {
        let mut values = Vec::new();
        for (at, row) in within(array, bounds)?.enumerate() {
            let value = self.value(array, field, row);
            values.push(value.map_err(|wrong| wrong.inside(at))?);
        }
        Ok(Value::Array(values))
    }

    /// Converts a map, whose keys may have any type and may be repeated.
    fn map(&mut self, array: &dyn Array, entries: &Field, row: usize) -> ReadResult {
        let list = array.as_list::<i32>();
        let (DataType::Struct(fields), Some(columns)) =
            (entries.data_type(), list.values().as_struct_opt())
        else {
            return Err(damaged("its map has no keys and values"));
        };
        let mut pairs = Vec::new();
        let bounds = range(list.value_offsets(), row);
        for (at, row) in within(list.values().as_ref(), bounds)?.enumerate() {
            self.spend(1)?;
            let mut pair = Vec::with_capacity(fields.len());
            for (field, column) in fields.iter().zip(columns.columns()) {
                let value = self.value(column.as_ref(), field, row);
                pair.push(value.map_err(|wrong| wrong.inside(pair.len()).inside(at))?);
            }
            pairs.push(Value::Array(pair));
        }
        Ok(Value::Array(pairs))
    }
}

fn damaged(why: &str) -> ValueError {
    ValueErrorKind::Damaged(why.to_owned()).into()
}

/// Returns the start and the number of the values of a row, or `None` for invalid offsets.
fn range<O: OffsetSizeTrait>(offsets: &[O], row: usize) -> Option<(usize, usize)> {
    let place = |row: usize| offsets.get(row).and_then(|offset| offset.to_usize());
    let start = place(row)?;
    Some((start, place(row + 1)?.checked_sub(start)?))
}

/// Returns the range of these values. Fails if the array does not contain them.
fn within(array: &dyn Array, bounds: Option<(usize, usize)>) -> Result<Range<usize>, ValueError> {
    let range = bounds.and_then(|(start, count)| Some(start..start.checked_add(count)?));
    let range = range.filter(|range| range.end <= array.len());
    range.ok_or_else(|| damaged("its offsets leave the values"))
}

/// Converts a number. Returns `None` for other types.
fn number(array: &dyn Array, kind: &DataType, row: usize) -> Option<ReadResult> {
    let integer = match kind {
        DataType::Int8 => integer::<Int8Type>(array, row),
        DataType::Int16 => integer::<Int16Type>(array, row),
        DataType::Int32 => integer::<Int32Type>(array, row),
        DataType::Int64 => integer::<Int64Type>(array, row),
        DataType::UInt8 => integer::<UInt8Type>(array, row),
        DataType::UInt16 => integer::<UInt16Type>(array, row),
        DataType::UInt32 => integer::<UInt32Type>(array, row),
        DataType::UInt64 => integer::<UInt64Type>(array, row),
        DataType::Float16 => return Some(float::<Float16Type>(array, row)),
        DataType::Float32 => return Some(float::<Float32Type>(array, row)),
        DataType::Float64 => return Some(float::<Float64Type>(array, row)),
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let span = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            Value::from(vec![span.months.into(), span.days.into(), span.nanoseconds])
        }
        _ => return None,
    };
    Some(Ok(integer))
}

fn integer<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Value
where
    Number: From<T::Native>,
{
    Value::Number(array.as_primitive::<T>().value(row).into())
}

fn float<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> ReadResult
where
    T::Native: Into<f64>,
{
    let number = array.as_primitive::<T>().value(row).into();
    Number::from_f64(number).map(Value::Number).ok_or_else(|| ValueErrorKind::Number(number).into())
}

/// The name of a type in messages, without the types in lists and structs.
pub(super) fn name_of(kind: &DataType) -> String {
    match kind {
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(_, _) => "list".to_owned(),
        DataType::Struct(_) => "struct".to_owned(),
        DataType::Map(_, _) => "map".to_owned(),
        DataType::Union(_, _) => "union".to_owned(),
        DataType::Dictionary(_, values) => name_of(values),
        DataType::RunEndEncoded(_, values) => name_of(values.data_type()),
        DataType::Timestamp(unit, Some(zone)) => format!("timestamp({unit}, {zone})"),
        DataType::FixedSizeBinary(bytes) => format!("fixed_size_binary({bytes})"),
        other => type_name(other),
    }
}
