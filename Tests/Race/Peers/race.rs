//! The race in Rust: `race bytes|untyped|typed|lines URL PAGES`, by reqwest and serde_json, along Link headers.
use reqwest::{header::LINK, Response};
use serde::Deserialize;
use serde_json::{value::RawValue, Value};
use std::io::{stdout, BufWriter, Write};

#[derive(Deserialize)]
struct User {
    login: String,
    #[allow(dead_code)]
    id: u64,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Label {
    name: String,
    color: String,
}

#[derive(Deserialize)]
#[allow(dead_code)]
struct Issue {
    id: u64,
    number: u64,
    title: String,
    user: User,
    labels: Vec<Label>,
    state: String,
    comments: u64,
    created_at: String,
    body: Option<String>,
}

fn next(response: &Response) -> Option<String> {
    let link = response.headers().get(LINK)?.to_str().ok()?;
    let one = link.split(',').find(|one| one.contains("rel=\"next\""))?;
    Some(one.split_once('<')?.1.split_once('>')?.0.to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (mode, pages): (&str, usize) = (&arguments[1], arguments[3].parse()?);
    let client = reqwest::Client::new();
    let mut url = Some(format!("{}1", arguments[2]));
    let mut output = BufWriter::with_capacity(1 << 16, stdout().lock());
    let mut sum = 0;
    for _ in 0..pages {
        let address = match url {
            Some(address) => address,
            None => break,
        };
        let response = client.get(address).send().await?.error_for_status()?;
        url = next(&response);
        let page = response.bytes().await?;
        match mode {
            "bytes" => sum += page.len(),
            "untyped" => {
                for issue in serde_json::from_slice::<Vec<Value>>(&page)? {
                    sum += issue["number"].as_u64().ok_or("number")? as usize;
                    sum += issue["title"].as_str().ok_or("title")?.len();
                    sum += issue["user"]["login"].as_str().ok_or("login")?.len();
                }
            }
            "typed" => {
                for issue in serde_json::from_slice::<Vec<Issue>>(&page)? {
                    sum += issue.number as usize + issue.title.len() + issue.user.login.len();
                }
            }
            _ => {
                for issue in serde_json::from_slice::<Vec<&RawValue>>(&page)? {
                    output.write_all(issue.get().as_bytes())?;
                    output.write_all(b"\n")?;
                }
            }
        }
    }
    if mode != "lines" {
        writeln!(output, "{sum}")?;
    }
    Ok(output.flush()?)
}
