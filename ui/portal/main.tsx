/** The customers' portal: who the key belongs to, then the view that the fragment names. */
import { StrictMode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { Api } from "../lib/api";
import { chooseLang, Lang, Speak } from "../lib/i18n";
import { Await, Button, Toasts } from "../lib/kit";
import { useLoad } from "../lib/load";
import { to, usePlace } from "../lib/router";
import { applyTheme, systemTheme, Theme } from "../lib/theme";
import { Catalogue } from "./catalogue";
import { PortalContext, useWords } from "./context";
import { EndpointView } from "./endpoint";
import { Endpoints } from "./endpoints";
import { MessageView } from "./message";
import "./portal.css";
import { forgetKey, look, takeKey } from "./session";
import { Webhooks, WhoAmI } from "./webhooks";
import { words } from "./words";

const wanted = look();

function useTheme(): [Theme, (theme: Theme) => void] {
  const [chosen, setChosen] = useState<Theme | undefined>(wanted.theme);
  const [system, setSystem] = useState(systemTheme);
  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setSystem(systemTheme());
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);
  const theme = chosen ?? system;
  useLayoutEffect(() => applyTheme(theme, wanted.brand), [theme]);
  return [theme, setChosen];
}

/** A link that is over, or none at all: nothing else is to be seen. */
function NoWay({ expired }: { expired: boolean }) {
  const { t } = useWords();
  return (
    <main className="centre">
      <section className="card">
        <h1>{t(expired ? "link.expired" : "link.none")}</h1>
        <p>{t(expired ? "link.expired.how" : "link.none.how")}</p>
      </section>
    </main>
  );
}

function View() {
  const place = usePlace();
  const [what, id] = place.parts;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const where = place.parts.join("/");
  useEffect(() => {
    if (!first.current) {
      main.current?.focus();
      scrollTo(0, 0);
    }
    first.current = false;
  }, [where]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {what === "endpoints" && id ? (
        <EndpointView key={id} id={id} place={place} />
      ) : what === "messages" && id ? (
        <MessageView key={id} id={id} />
      ) : what === "events" ? (
        <Catalogue />
      ) : (
        <Endpoints />
      )}
    </main>
  );
}

function Top(props: { theme: Theme; setTheme: (theme: Theme) => void; setLang: (lang: Lang) => void }) {
  const { t, lang } = useWords();
  const [what] = usePlace().parts;
  const events = what === "events";
  return (
    <header className="top">
      <a className="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>
        {t("lib.skip")}
      </a>
      <nav aria-label={t("nav.title")}>
        <a href={to()} aria-current={events ? undefined : "page"}>
          {t("nav.endpoints")}
        </a>
        <a href={to("events")} aria-current={events ? "page" : undefined}>
          {t("nav.events")}
        </a>
      </nav>
      <Button className="icon" onClick={() => props.setLang(lang === "en" ? "ja" : "en")} lang={lang === "en" ? "ja" : "en"}>
        {lang === "en" ? "日本語" : "English"}
      </Button>
      <Button
        className="icon"
        onClick={() => props.setTheme(props.theme === "dark" ? "light" : "dark")}
        aria-label={t(props.theme === "dark" ? "theme.light" : "theme.dark")}
      >
        <span aria-hidden="true">{props.theme === "dark" ? "☀" : "☾"}</span>
      </Button>
    </header>
  );
}

/** Asks whose key it is before anything else: the page has no other way to know its application. */
function Signed({ token, onRefused, top }: { token: string; onRefused: () => void; top: JSX.Element }) {
  const api = useMemo(() => new Api("../", token, onRefused), [token]);
  const who = useLoad<WhoAmI>(() => Webhooks.whoAmI(api), [token]);
  return (
    <>
      {top}
      <Await from={who}>
        {({ appId, capabilities }) =>
          appId ? (
            <PortalContext.Provider value={{ webhooks: new Webhooks(api, appId), capabilities }}>
              <View />
            </PortalContext.Provider>
          ) : (
            <NoWay expired={false} />
          )
        }
      </Await>
    </>
  );
}

function Portal() {
  const [theme, setTheme] = useTheme();
  const [lang, setLang] = useState(() => chooseLang(wanted.lang));
  const [token, setToken] = useState(takeKey);
  const [expired, setExpired] = useState(false);
  useEffect(() => {
    document.documentElement.lang = lang;
    document.title = words[lang]["page.title"];
  }, [lang]);
  useEffect(() => {
    // Another link in the same tab changes the fragment alone.
    const moved = () => {
      if (!location.hash.startsWith("#key=")) return;
      setToken(takeKey());
      setExpired(false);
    };
    window.addEventListener("hashchange", moved);
    return () => window.removeEventListener("hashchange", moved);
  }, []);
  const refused = () => {
    forgetKey();
    setExpired(true);
  };
  return (
    <Speak lang={lang} words={words}>
      <Toasts>
        {!token || expired ? (
          <NoWay expired={expired} />
        ) : (
          <Signed key={token} token={token} onRefused={refused} top={<Top theme={theme} setTheme={setTheme} setLang={setLang} />} />
        )}
      </Toasts>
    </Speak>
  );
}

createRoot(document.getElementById("page")!).render(
  <StrictMode>
    <Portal />
  </StrictMode>,
);
