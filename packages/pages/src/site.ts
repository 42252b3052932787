import { TEXT_FONT_FACES } from './fonts.ts';
import { defineStyle, type Html, html, productMark, renderPage, type Style } from './page.ts';
import { systemThemeTokens } from './tokens.ts';

/** Design tokens, the font, and the elements that all pages share. */
export const THEME = `
${TEXT_FONT_FACES}
${systemThemeTokens()}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:var(--size-reading)/1.5 var(--sans);-webkit-font-smoothing:antialiased;display:flex;flex-direction:column;min-height:100vh}
header{display:flex;align-items:center;gap:.5rem;font-weight:var(--weight-strong);letter-spacing:-.02em}
header svg{width:1.75rem;height:1.75rem}
h1{font-size:1.5rem;font-weight:var(--weight-strong);line-height:1.25;letter-spacing:-.025em;margin:0;overflow-wrap:anywhere;text-wrap:balance}
a{color:var(--accent)}
button,a.button{font:inherit;font-weight:var(--weight-medium);text-align:center;min-height:2.75rem;padding:.5625rem 1rem;border-radius:.5rem;border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);text-decoration:none;cursor:pointer}
button:hover,a.button:hover{background:var(--accent-strong);border-color:var(--accent-strong)}
button.second{background:transparent;color:var(--text);border-color:var(--line-strong)}
button.second:hover{background:var(--surface-sunken)}
button.danger{background:transparent;color:var(--bad);border-color:var(--bad)}
button.danger:hover{background:var(--bad-soft)}
button.link{width:auto;min-height:0;border:0;background:none;color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert,.done{border-radius:.5rem;padding:.625rem .75rem}
.alert{background:var(--bad-soft);color:var(--bad)}
.done{background:var(--good-soft);color:var(--good)}
@media (forced-colors:active){.alert,.done{border:1px solid}}
`;

/** Addresses that the operator publishes. */
export interface Publication {
  readonly termsUrl: string | undefined;
  readonly privacyUrl: string | undefined;
}

/** A public page in the frame with the site's navigation. */
export interface SitePage {
  readonly locale: 'en' | 'it';
  /** Path of the page, which the link to the other language repeats. */
  readonly path: '/' | '/prices' | undefined;
  readonly title: string;
  readonly description?: string;
  readonly style: Style;
  readonly content: Html;
  readonly publication: Publication;
}

const TEXTS = {
  en: {
    skip: 'Skip to the content',
    site: 'Site',
    prices: 'Prices',
    docs: 'Docs',
    signIn: 'Sign in',
    terms: 'Terms',
    privacy: 'Privacy',
    other: 'Italiano',
  },
  it: {
    skip: 'Vai al contenuto',
    site: 'Sito',
    prices: 'Prezzi',
    docs: 'Documentazione',
    signIn: 'Accedi',
    terms: 'Condizioni',
    privacy: 'Privacy',
    other: 'English',
  },
} as const;

/** Joins the frame's style with the rules of a page. */
export const siteStyle = (rules: string): Style =>
  defineStyle(
    THEME,
    `
body{background:var(--paper)}
.skip{position:absolute;left:-100vw}.skip:focus{left:.5rem;top:.5rem;background:var(--surface);padding:.5rem;z-index:1}
header,main,body>footer{width:100%;max-width:68rem;margin:0 auto;padding:0 1.25rem}
header{flex-wrap:wrap;padding-top:1rem;padding-bottom:1rem}
header .home{display:inline-flex;gap:.5rem;align-items:center;margin-right:auto;color:var(--text);text-decoration:none;font-size:1.125rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:center;font-weight:var(--weight-medium);letter-spacing:0}
nav a{display:inline-flex;align-items:center;min-height:2.5rem;color:var(--text-soft);text-decoration:none}nav a:hover,nav a[aria-current]{color:var(--text)}nav a:hover{text-decoration:underline}
main{flex:1}
h1{font-size:clamp(1.75rem,1.2rem + 2.4vw,2.75rem);line-height:1.15}
h2{font-size:1.375rem;font-weight:var(--weight-strong);letter-spacing:-.02em;line-height:1.3;margin:0}
h3{font-size:1.0625rem;font-weight:var(--weight-strong);margin:0}
p{margin:0}.soft{color:var(--text-soft)}.lead{font-size:1.125rem;color:var(--text-soft);max-width:44rem}
section{margin-top:3.5rem}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;align-items:center}
a.second{display:inline-block;text-align:center;padding:.5625rem 1rem;min-height:2.75rem;border:1px solid var(--line-strong);border-radius:.5rem;color:var(--text);text-decoration:none;font-weight:var(--weight-medium)}a.second:hover{background:var(--surface-sunken)}
body>footer{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin-top:4rem;padding-top:1rem;padding-bottom:1.5rem;font-size:.9375rem}
body>footer a{display:inline-flex;align-items:center;min-height:2rem}body>footer [hreflang]{margin-left:auto}
${rules}`,
  );

/** Renders a public page, with the operator's terms and privacy policy where they are published. */
export const renderSite = ({ locale, path, title, description, style, content, publication }: SitePage): string => {
  const text = TEXTS[locale];
  const otherLocale = locale === 'it' ? 'en' : 'it';
  const { termsUrl, privacyUrl } = publication;
  const body = html`<a class="skip" href="#content">${text.skip}</a>
<header>
<a class="home" href="/?locale=${locale}">${productMark()}<span>svc</span></a>
<nav aria-label="${text.site}"><a href="/prices?locale=${locale}"${path === '/prices' && html` aria-current="page"`}>${text.prices}</a><a href="${docsPath(locale)}">${text.docs}</a><a href="/sign-in?locale=${locale}">${text.signIn}</a></nav>
</header>
<main id="content">
${content}
</main>
<footer>
${termsUrl !== undefined && html`<a href="${termsUrl}">${text.terms}</a>`}
${privacyUrl !== undefined && html`<a href="${privacyUrl}">${text.privacy}</a>`}
<a href="${path ?? '/'}?locale=${otherLocale}" hreflang="${otherLocale}" lang="${otherLocale}">${text.other}</a>
</footer>`;
  return renderPage({ locale, title, style, body, ...(description === undefined ? {} : { description }) });
};

const docsPath = (locale: SitePage['locale']): string => (locale === 'it' ? '/docs/it' : '/docs');
