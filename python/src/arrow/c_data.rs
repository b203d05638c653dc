//! Structures of Arrow's C data interface, checked before they are read as arrays.
//!
//! This module checks an array and each of its parts:
//!
//! - No other reader has taken the array.
//! - The numbers of buffers and children, and the lengths, match the type.
//! - The first and the last offset of strings are in order.
//!
//! These structures do not contain the sizes of buffers. Like every reader of the interface, this
//! module trusts the producer that the last offset does not exceed the data.
#![expect(unsafe_code, reason = "structures of C behind pointers")]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_schema::{DataType, UnionMode};
use std::ffi::{CStr, c_char, c_void};

/// Deepest nesting of types.
const DEPTH: usize = 64;
/// The format of a struct, a type with columns.
const STRUCT: &str = "+s";

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const *const Self,
    dictionary: *const Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *const *mut Self,
    dictionary: *const Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// The number of buffers of an array of a type, and whether it may have more.
fn buffers(kind: &DataType) -> (usize, bool) {
    match kind {
        DataType::Null | DataType::RunEndEncoded(_, _) => (0, false),
        DataType::FixedSizeList(_, _)
        | DataType::Struct(_)
        | DataType::Union(_, UnionMode::Sparse) => (1, false),
        DataType::Utf8View | DataType::BinaryView => (3, true),
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::ListView(_)
        | DataType::LargeListView(_) => (3, false),
        _ => (2, false),
    }
}

/// An upper bound of the bits of a row in any buffer, or `None` for an invalid type. For lists of a
/// fixed size, the number of values of a row.
fn width(kind: &DataType) -> Option<usize> {
    match kind {
        DataType::FixedSizeBinary(bytes) => usize::try_from(*bytes).ok()?.checked_mul(8),
        DataType::FixedSizeList(_, values) => usize::try_from(*values).ok(),
        DataType::Dictionary(keys, _) => width(keys),
        _ => Some(256),
    }
}

fn schema_of(schema: &FFI_ArrowSchema) -> &Schema {
    // SAFETY: both are `struct ArrowSchema`.
    unsafe { &*std::ptr::from_ref(schema).cast() }
}

fn array_of(array: &FFI_ArrowArray) -> &Array {
    // SAFETY: both are `struct ArrowArray`.
    unsafe { &*std::ptr::from_ref(array).cast() }
}

impl Schema {
    fn format(&self) -> Result<&str, String> {
        if self.format.is_null() {
            return Err("a type is missing".to_owned());
        }
        // SAFETY: strings of the interface end with a zero byte.
        let format = unsafe { CStr::from_ptr(self.format) };
        format.to_str().map_err(|_| "a type is not UTF-8".to_owned())
    }

    fn name(&self) -> Result<&str, String> {
        if self.name.is_null() {
            return Ok("");
        }
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(self.name) };
        name.to_str().map_err(|_| "the name of a column is not UTF-8".to_owned())
    }

    fn children(&self) -> Result<Vec<&Self>, String> {
        let count = usize::try_from(self.n_children).unwrap_or(usize::MAX);
        let missing = || "a part of a type is missing".to_owned();
        if count > 0 && (self.children.is_null() || count == usize::MAX) {
            return Err(missing());
        }
        // SAFETY: `children` holds `count` pointers, each null or valid.
        let child = |place| unsafe { (*self.children.add(place)).as_ref() };
        (0..count).map(|place| child(place).ok_or_else(missing)).collect()
    }

    /// Checks the names, the formats and the child types. Fails for more than [`DEPTH`] levels.
    fn check(&self, depth: usize) -> Result<(), String> {
        if depth > DEPTH {
            return Err(format!("its type has more than {DEPTH} levels"));
        }
        self.name()?;
        let children = self.children()?;
        let expected = parts(self.format()?);
        if expected.is_some_and(|expected| expected != children.len()) {
            return Err("a part of a type is missing".to_owned());
        }
        children.into_iter().try_for_each(|child| child.check(depth + 1))?;
        // SAFETY: the pointer is null or valid.
        unsafe { self.dictionary.as_ref() }.map_or(Ok(()), |values| values.check(depth + 1))
    }
}

/// The number of child types that a format requires. `None` for a format whose number is not fixed
/// or not checked, such as a struct.
fn parts(format: &str) -> Option<usize> {
    match format {
        "+l" | "+L" | "+vl" | "+vL" | "+m" => Some(1),
        "+r" => Some(2),
        _ => format.starts_with("+w:").then_some(1),
    }
}

/// Returns the names of the columns, or `None` if the type is a single column.
pub(crate) fn names(schema: &FFI_ArrowSchema) -> Result<Option<Vec<String>>, String> {
    let schema = schema_of(schema);
    if schema.release.is_none() {
        return Err("its type was taken by another reader already".to_owned());
    }
    if schema.format()? != STRUCT {
        return Ok(None);
    }
    let names = schema.children()?.into_iter().map(|child| child.name().map(str::to_owned));
    names.collect::<Result<_, _>>().map(Some)
}

/// Checks and returns the type of a column, or of the whole array if `column` is `None`.
pub(crate) fn part(
    schema: &FFI_ArrowSchema,
    column: Option<usize>,
) -> Result<&FFI_ArrowSchema, String> {
    let part = column.map_or(schema, |column| schema.child(column));
    schema_of(part).check(0)?;
    Ok(part)
}

/// The format string of the type, as its producer wrote it.
pub(crate) fn format(schema: &FFI_ArrowSchema) -> &str {
    schema_of(schema).format().unwrap_or_default()
}

/// The rows of a struct array as a range of rows of its columns. `present` marks the rows that are
/// not null. It is `None` if all rows are present.
pub(crate) struct RowRange {
    pub(crate) start: usize,
    pub(crate) count: usize,
    pub(crate) present: Option<Vec<bool>>,
}

/// The rows of a struct array.
pub(crate) fn rows(array: &FFI_ArrowArray) -> Result<RowRange, String> {
    let array = array_of(array);
    let (start, count) = array.range()?;
    // SAFETY: the first buffer of a struct array, if it has one, contains a bit for each row.
    let bits = (array.n_buffers > 0 && !array.buffers.is_null())
        .then(|| unsafe { (*array.buffers).cast::<u8>() })
        .filter(|bits| !bits.is_null() && array.null_count != 0);
    let present = bits.map(|bits| {
        // SAFETY: as above.
        let bit = |row: usize| unsafe { *bits.add(row / 8) } >> (row % 8) & 1 == 1;
        (start..start + count).map(bit).collect()
    });
    Ok(RowRange { start, count, present })
}

/// Moves a column out of a struct array.
pub(crate) fn take_column(
    array: &mut FFI_ArrowArray,
    column: usize,
    columns: usize,
) -> Result<FFI_ArrowArray, String> {
    let outer = array_of(array);
    if usize::try_from(outer.n_children) != Ok(columns) || outer.children.is_null() {
        return Err(format!("it has {} columns, its type {columns}", outer.n_children));
    }
    // SAFETY: `children` holds this many pointers to arrays. `from_raw` leaves a released array in
    // the parent, as the interface requires for moved children; the parent's release function skips
    // it.
    let child = unsafe {
        let column = *outer.children.add(column);
        (!column.is_null()).then(|| FFI_ArrowArray::from_raw(column.cast()))
    };
    child.ok_or_else(|| "a column is missing".to_owned())
}

/// Checks that the array matches its type and has at least `rows` rows.
pub(crate) fn check(array: &FFI_ArrowArray, kind: &DataType, rows: usize) -> Result<(), String> {
    let array = array_of(array);
    let (start, count) = array.range()?;
    if count < rows {
        return Err(format!("it has {count} rows, expected {rows}"));
    }
    array.check(kind, start, count)
}

/// The number of rows.
pub(crate) fn len(array: &FFI_ArrowArray) -> Result<usize, String> {
    array_of(array).range().map(|(_, count)| count)
}

impl Array {
    fn range(&self) -> Result<(usize, usize), String> {
        if self.release.is_none() {
            return Err("it was taken by another reader already".to_owned());
        }
        let wrong = || format!("its length is {} from {}", self.length, self.offset);
        let end = self.offset.checked_add(self.length).and_then(|end| usize::try_from(end).ok());
        match (usize::try_from(self.offset), usize::try_from(self.length), end) {
            // The division by 64 leaves room for sizes in bytes.
            (Ok(start), Ok(count), Some(end)) if end < usize::MAX / 64 => Ok((start, count)),
            _ => Err(wrong()),
        }
    }

    fn check(&self, kind: &DataType, start: usize, count: usize) -> Result<(), String> {
        let (expected, views) = buffers(kind);
        let present = usize::try_from(self.n_buffers).unwrap_or(usize::MAX);
        if present < expected || (present > expected && !views) || present > i32::MAX as usize {
            return Err(format!("it has {} buffers, expected {expected}", self.n_buffers));
        }
        if expected > 0 && self.buffers.is_null() {
            return Err("its buffers are missing".to_owned());
        }
        // Buffer 0 is the validity bitmap, which may be missing if all rows have a value.
        if expected > 1 && start + count > 0 && self.buffer(1).is_null() {
            return Err("its values are missing".to_owned());
        }
        let bits = width(kind).and_then(|bits| (start + count).checked_mul(bits));
        if bits.is_none_or(|bits| bits > isize::MAX as usize) {
            return Err(format!("it has {count} values from {start}, which no memory holds"));
        }
        match kind {
            DataType::Utf8 | DataType::Binary => self.check_offsets::<i32>(start, count),
            DataType::LargeUtf8 | DataType::LargeBinary => self.check_offsets::<i64>(start, count),
            DataType::Utf8View | DataType::BinaryView => self.check_views(present),
            DataType::Dictionary(keys, values) => self.check_dictionary(keys, values),
            _ => self.check_children(kind),
        }
    }

    fn check_dictionary(&self, keys: &DataType, values: &DataType) -> Result<(), String> {
        if !keys.is_dictionary_key_type() {
            return Err("its dictionary has keys that are not whole numbers".to_owned());
        }
        // SAFETY: the pointer is null or valid.
        let dictionary = unsafe { self.dictionary.as_ref() };
        let dictionary = dictionary.ok_or("its dictionary is missing")?;
        let (start, count) = dictionary.range()?;
        dictionary.check(values, start, count)
    }

    /// Checks each child array.
    fn check_children(&self, kind: &DataType) -> Result<(), String> {
        let kinds: Vec<&DataType> = match kind {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _) => vec![field.data_type()],
            DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
            DataType::Union(fields, _) => fields.iter().map(|(_, f)| f.data_type()).collect(),
            DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
            _ => return Ok(()),
        };
        if usize::try_from(self.n_children) != Ok(kinds.len())
            || (self.children.is_null() && !kinds.is_empty())
        {
            let present = self.n_children;
            let expected = kinds.len();
            return Err(format!("it has {present} parts, its type {expected}"));
        }
        for (place, kind) in kinds.into_iter().enumerate() {
            // SAFETY: `children` holds this many pointers, each null or valid.
            let child = unsafe { (*self.children.add(place)).as_ref() };
            let child = child.ok_or("a part is missing")?;
            let (start, count) = child.range()?;
            child.check(kind, start, count)?;
        }
        Ok(())
    }

    fn buffer(&self, number: usize) -> *const c_void {
        // SAFETY: callers pass the number of an existing buffer.
        unsafe { *self.buffers.add(number) }
    }

    /// Checks the first and the last offset. The reader takes the length of the data from the last
    /// one.
    fn check_offsets<O: Copy + Into<i64>>(&self, start: usize, count: usize) -> Result<(), String> {
        let offsets = self.buffer(1).cast::<O>();
        if offsets.is_null() {
            return Ok(());
        }
        if !offsets.is_aligned() {
            return Err("its offsets are not aligned".to_owned());
        }
        // SAFETY: the buffer contains an offset for each row, and one more.
        let [first, last] = [start, start + count].map(|row| unsafe { *offsets.add(row) }.into());
        if first < 0 || last < first {
            return Err(format!("its offsets go from {first} to {last}"));
        }
        if last > 0 && self.buffer(2).is_null() {
            return Err("its texts are missing".to_owned());
        }
        Ok(())
    }

    /// Checks the data buffers. The last buffer contains their lengths.
    fn check_views(&self, buffers: usize) -> Result<(), String> {
        let lengths = self.buffer(buffers - 1).cast::<i64>();
        if buffers > 3 && (lengths.is_null() || !lengths.is_aligned()) {
            return Err("the lengths of its buffers are missing".to_owned());
        }
        for number in 2..buffers - 1 {
            // SAFETY: the buffer contains a length for each data buffer.
            let length = unsafe { *lengths.add(number - 2) };
            if length < 0 || (length > 0 && self.buffer(number).is_null()) {
                return Err(format!("the buffer {number} has the length {length}"));
            }
        }
        Ok(())
    }
}
