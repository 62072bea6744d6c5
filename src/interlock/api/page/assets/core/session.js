// The session of this browser tab: a link is exchanged for a token, which stays in this tab's session storage.
// The second secret is a cookie that scripts cannot read; the browser adds it to requests of this origin.

const KEY = "interlock.session";

export function storedSession() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return found && typeof found.token === "string" ? found : null;
  } catch {
    return null;
  }
}

export function forgetSession() {
  sessionStorage.removeItem(KEY);
}

// The secret of a link in the address, which is removed from the address bar and the history at once.
export function takeLink() {
  const found = /^#link=([A-Za-z0-9_-]{1,200})$/.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname);
  return found ? found[1] : "";
}

// Returns "" when the session is open, else the reason in a sentence.
export async function openSession(link) {
  try {
    const reply = await fetch("/api/sessions", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ link }),
      cache: "no-store",
    });
    const answer = await reply.json();
    if (!reply.ok) return answer.error ?? `the workbench answered ${reply.status}`;
    sessionStorage.setItem(KEY, JSON.stringify(answer));
    return "";
  } catch {
    return "the workbench does not answer; open the link again when it runs";
  }
}
