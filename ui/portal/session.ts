/** What the link brought: the key, which leaves the address bar at once, and how the page should look. */
import { parseColour, Theme } from "../lib/theme";

const kept_as = "hikyaku.portal.key";

/** Storage of a frame may be closed to us; then the key lives as long as the page. */
function storage(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}

/** From "#key=appsk_…", else what this tab was opened with before. */
export function takeKey(): string | undefined {
  const wanted = new URLSearchParams(location.search).get("next") ?? "";
  const given = location.hash.startsWith("#key=") ? new URLSearchParams(location.hash.slice(1)).get("key") : null;
  if (given) {
    storage()?.setItem(kept_as, given);
    const next = /^\/(?!\/)[^#]*$/.test(wanted) ? wanted : "/";
    history.replaceState(null, "", location.pathname + location.search + "#" + next);
    return given;
  }
  return storage()?.getItem(kept_as) ?? undefined;
}

export function forgetKey() {
  storage()?.removeItem(kept_as);
}

export function look() {
  const query = new URLSearchParams(location.search);
  const theme = query.get("theme");
  return {
    theme: theme === "light" || theme === "dark" ? (theme as Theme) : undefined,
    brand: parseColour(query.get("primaryColor") ?? ""),
    lang: query.get("lang"),
  };
}
