//! Objects of a bucket as JSON Lines: `bucket URL PAGES`, by reqwest and quick-xml, along Link headers.
use quick_xml::{events::Event, Reader};
use reqwest::{header::LINK, Response};
use std::io::{stdout, BufWriter, Write};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn next(response: &Response) -> Option<String> {
    let link = response.headers().get(LINK)?.to_str().ok()?;
    let one = link.split(',').find(|one| one.contains("rel=\"next\""))?;
    Some(one.split_once('<')?.1.split_once('>')?.0.to_string())
}

/// Elements as members, those that hold elements as objects.
fn write_objects(page: &[u8], output: &mut impl Write) -> Outcome<()> {
    let mut reader = Reader::from_reader(page);
    let (mut depth, mut is_first, mut is_leaf) = (0, true, false);
    let mut text = String::new();
    loop {
        match reader.read_event()? {
            Event::Start(element) if depth > 0 || element.name().as_ref() == b"Contents" => {
                if depth == 0 || is_leaf {
                    output.write_all(b"{")?;
                    is_first = true;
                }
                if depth > 0 {
                    if !is_first {
                        output.write_all(b",")?;
                    }
                    serde_json::to_writer(&mut *output, std::str::from_utf8(element.name().as_ref())?)?;
                    output.write_all(b":")?;
                }
                is_leaf = depth > 0;
                depth += 1;
                text.clear();
            }
            Event::Text(part) if is_leaf => text.push_str(&part.unescape()?),
            Event::End(_) if depth > 0 => {
                if is_leaf {
                    serde_json::to_writer(&mut *output, &text)?;
                } else {
                    output.write_all(b"}")?;
                }
                depth -= 1;
                (is_leaf, is_first) = (false, false);
                if depth == 0 {
                    output.write_all(b"\n")?;
                }
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let client = reqwest::Client::new();
    let mut url = Some(format!("{}1", arguments[1]));
    let mut output = BufWriter::with_capacity(1 << 16, stdout().lock());
    for _ in 0..arguments[2].parse()? {
        let address = match url {
            Some(address) => address,
            None => break,
        };
        let response = client.get(address).send().await?.error_for_status()?;
        url = next(&response);
        write_objects(&response.bytes().await?, &mut output)?;
    }
    Ok(output.flush()?)
}
