//! Where an event's fields are in its bytes: the kernel's `format` files, and `header_page`, which has the same form.

/// Where the fields of a kind of event are.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Format {
    /// The event's name, without its group.
    pub name: String,
    /// The number that stands in the event's bytes.
    pub id: u16,
    fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Field {
    name: String,
    offset: usize,
    size: usize,
    is_signed: bool,
    /// The field says where the text is, and is not the text.
    is_elsewhere: bool,
}

/// The most fields of an event that are read.
const MAX_FIELDS: usize = 64;

impl Format {
    /// Reads a `format` file. Returns `None` when its number is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        Some(Self { name: value("name:")?.to_owned(), id: value("ID:")?.parse().ok()?, fields: fields(text) })
    }

    /// A number of the event.
    pub fn number(&self, bytes: &[u8], name: &str) -> Option<i64> {
        let field = self.field(name)?;
        integer(bytes.get(field.offset..field.offset.checked_add(field.size)?)?, field.is_signed)
    }

    /// A text of the event, up to its first NUL. What is no UTF-8 is shown as a question mark.
    pub fn text(&self, bytes: &[u8], name: &str) -> Option<String> {
        let field = self.field(name)?;
        let (offset, size) = match field.is_elsewhere {
            false => (field.offset, field.size),
            true => {
                let place = u32::try_from(self.number(bytes, name)?).ok()?;
                (usize::from(place as u16), (place >> 16) as usize)
            }
        };
        let text = bytes.get(offset..offset.checked_add(size)?)?;
        let text = text.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).replace(|letter: char| letter.is_control() || letter == '\u{fffd}', "?"))
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// How the pages of a trace are laid out: the kernel's `header_page`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageShape {
    /// Where the number of bytes in use is.
    pub commit: usize,
    /// The size of that number.
    pub commit_size: usize,
    /// Where events begin.
    pub data: usize,
    /// The size of a whole page.
    pub size: usize,
}

impl PageShape {
    /// Reads `header_page`. Returns `None` when it is not laid out as we can read it.
    pub fn parse(text: &str) -> Option<Self> {
        let fields = fields(text);
        let find = |name| fields.iter().find(|field| field.name == name);
        let (time, commit, data) = (find("timestamp")?, find("commit")?, find("data")?);
        let size = data.offset.checked_add(data.size)?;
        let is_ours = time.offset == 0 && time.size == 8 && commit.offset >= 8 && matches!(commit.size, 4 | 8);
        let is_ours =
            is_ours && commit.offset.checked_add(commit.size)? <= data.offset && (64..=1 << 20).contains(&size);
        is_ours.then_some(Self { commit: commit.offset, commit_size: commit.size, data: data.offset, size })
    }
}

fn fields(text: &str) -> Vec<Field> {
    text.lines().filter_map(|line| field(line.trim().strip_prefix("field:")?)).take(MAX_FIELDS).collect()
}

/// One line after its `field:`, as in `char prev_comm[16]; offset:8; size:16; signed:0;` with tabs between.
fn field(line: &str) -> Option<Field> {
    let mut parts = line.split(';').map(str::trim);
    let declaration = parts.next()?;
    let name = declaration.split_whitespace().last()?;
    let name = name.split('[').next()?.trim_start_matches('*').to_owned();
    let mut value = |key: &str| parts.next()?.strip_prefix(key)?.parse::<usize>().ok();
    let (offset, size) = (value("offset:")?, value("size:")?);
    let is_signed = value("signed:") == Some(1);
    Some(Field { name, offset, size, is_signed, is_elsewhere: declaration.starts_with("__data_loc") })
}

/// A number of 1, 2, 4 or 8 bytes, in this machine's order: the trace is this machine's.
fn integer(bytes: &[u8], is_signed: bool) -> Option<i64> {
    Some(match (bytes.len(), is_signed) {
        (1, false) => i64::from(bytes[0]),
        (1, true) => i64::from(bytes[0] as i8),
        (2, false) => i64::from(u16::from_ne_bytes(bytes.try_into().ok()?)),
        (2, true) => i64::from(i16::from_ne_bytes(bytes.try_into().ok()?)),
        (4, false) => i64::from(u32::from_ne_bytes(bytes.try_into().ok()?)),
        (4, true) => i64::from(i32::from_ne_bytes(bytes.try_into().ok()?)),
        (8, _) => i64::from_ne_bytes(bytes.try_into().ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERRUPT: &str = "name: irq_handler_entry
ID: 225
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int irq;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;

print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)
";

    #[test]
    fn an_events_numbers_and_texts_are_where_its_format_says() {
        let format = Format::parse(INTERRUPT).unwrap();
        assert_eq!((format.name.as_str(), format.id), ("irq_handler_entry", 225));
        let mut bytes = vec![0; 16];
        bytes[8..12].copy_from_slice(&27_i32.to_ne_bytes());
        bytes[12..16].copy_from_slice(&(16_u32 | 5 << 16).to_ne_bytes());
        bytes.extend_from_slice(b"eth0\0");
        assert_eq!(format.number(&bytes, "irq"), Some(27));
        assert_eq!(format.text(&bytes, "name").as_deref(), Some("eth0"));
        assert_eq!(format.number(&bytes, "nothing"), None);
        assert_eq!(format.text(&bytes[..18], "name"), None, "the text ends behind the event");
        assert_eq!(format.number(&bytes[..9], "irq"), None);
    }

    #[test]
    fn a_format_without_a_number_is_none() {
        assert_eq!(Format::parse("name: x\nformat:\n"), None);
        assert_eq!(Format::parse(""), None);
    }

    #[test]
    fn a_page_is_laid_out_as_its_header_says() {
        let text = "	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:0;
";
        assert_eq!(PageShape::parse(text), Some(PageShape { commit: 8, commit_size: 8, data: 16, size: 4096 }));
        assert_eq!(PageShape::parse(&text.replace("4080", "99999999")), None);
        assert_eq!(PageShape::parse("nonsense"), None);
    }
}
