"use strict";
// Loads older entries when the reader nears the end: more than 0.6 of what is loaded has been seen, the
// standard threshold of Quire's paginator. Without this file the page has a plain link.
const list = document.getElementById("entries");
const more = document.getElementById("more");
const threshold = 0.6;
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

function make(name, text, fields = {}) {
  const element = document.createElement(name);
  if (text) element.textContent = text;
  for (const [field, value] of Object.entries(fields)) element.setAttribute(field, value);
  return element;
}

function row(entry) {
  const item = make("li", "", { id: `entry-${entry.number}`, "data-number": entry.number });
  if (entry.isRead) item.classList.add("read");
  const form = make("form", "", { method: "post", action: `/api/entries/${entry.number}/read` });
  form.append(make("button", entry.isRead ? "Mark as unread" : "Mark as read",
    { name: "read", value: entry.isRead ? "0" : "1" }));
  const about = make("div", "", { class: "about" });
  about.append(
    make("a", entry.source, { href: "/?source=" + encodeURIComponent(entry.sourceID) }),
    make("time", day.format(new Date(entry.date)), { datetime: entry.date }), form);
  const title = make("h2", entry.url ? "" : entry.title);
  if (entry.url) title.append(make("a", entry.title, { href: entry.url, rel: "noopener noreferrer" }));
  const article = make("article");
  article.append(about, title, make("p", entry.text, { class: "excerpt" }));
  item.append(article);
  return item;
}

if (list) {
  let loading = false;
  let cursor = more && new URL(more.href).searchParams.get("cursor");

  const load = async () => {
    if (loading || !cursor) return;
    loading = true;
    const query = new URLSearchParams(location.search);
    query.set("cursor", cursor);
    try {
      const answer = await fetch("/api/entries?" + query);
      if (!answer.ok) throw new Error(String(answer.status));
      const page = await answer.json();
      list.append(...page.data.map(row));
      cursor = page.next_cursor;
      if (cursor) {
        query.set("cursor", cursor);
        more.href = "/?" + query;
      } else {
        more.replaceWith(make("span", "That is all.", { id: "end" }));
      }
      loading = false;
      check();
    } catch {
      // The plain link stays, and is the way to try again.
      loading = false;
      cursor = null;
    }
  };

  const check = () => {
    const seen = (window.scrollY + window.innerHeight - list.offsetTop) / list.offsetHeight;
    if (seen > threshold) load();
  };

  addEventListener("scroll", check, { passive: true });
  addEventListener("resize", check, { passive: true });
  check();

  list.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = event.submitter;
    const item = event.target.closest("li");
    const answer = await fetch(event.target.action,
      { method: "POST", body: new URLSearchParams({ read: button.value }) });
    if (!answer.ok) return;
    const isRead = button.value === "1";
    item.classList.toggle("read", isRead);
    button.value = isRead ? "0" : "1";
    button.textContent = isRead ? "Mark as unread" : "Mark as read";
  });

  // j and k go to the next and the previous entry, m marks the one that has the focus.
  addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...list.children];
    const current = items.indexOf(document.activeElement.closest?.("#entries > li"));
    if (event.key === "/") {
      event.preventDefault();
      document.querySelector("input[type=search]").focus();
    } else if (event.key === "m") {
      items[current]?.querySelector("button").click();
    } else if (event.key === "j" || event.key === "k") {
      const next = items[Math.max(0, current + (event.key === "j" ? 1 : -1))];
      next?.querySelector("h2 a, button")?.focus({ preventScroll: true });
      next?.scrollIntoView({ block: "nearest" });
    }
  });
}

// A list of subscriptions from a file goes into the text field.
document.getElementById("opml-file")?.addEventListener("change", async (event) => {
  document.getElementById("opml").value = await event.target.files[0].text();
});
