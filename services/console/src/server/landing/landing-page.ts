import { type Html, html, type Publication, pagePolicy, renderSite, siteStyle } from '@svc/pages';
import { LANDING_TEXTS } from './landing-text.ts';
import { consentPicture, overviewPicture, PICTURE_RULES } from './pictures.ts';

type Locale = keyof typeof LANDING_TEXTS;

const STYLE = siteStyle(`
.hero{display:grid;gap:1.25rem;padding-top:2.5rem}
.cards{list-style:none;margin:1.25rem 0 0;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:1.5rem}
.cards li{display:flex;flex-direction:column;gap:.5rem;padding:1.25rem;border:1px solid var(--line);border-radius:.75rem;background:var(--surface)}.cards a{margin-top:auto;padding-top:.5rem}
.reasons li{border:0;padding:0;background:none}
.missing{display:grid;gap:1.25rem;padding-top:3rem}
${PICTURE_RULES}`);

/** Content security policy of the public pages. */
export const SITE_POLICY = pagePolicy(STYLE);

/** Renders the page at `/` for visitors who are not signed in. */
export const landingPage = (locale: Locale, publication: Publication): string => {
  const text = LANDING_TEXTS[locale];
  const docs = locale === 'it' ? '/docs/it' : '/docs';
  const content = html`<div class="hero">
<h1>${text.heading}</h1>
<p class="lead">${text.lead}</p>
<p class="actions"><a class="button" href="/sign-up?locale=${locale}">${text.signUp}</a><a class="second" href="/prices?locale=${locale}">${text.prices}</a></p>
</div>
<div class="shots">
<figure>${consentPicture(text)}<figcaption>${text.consentCaption}</figcaption></figure>
<figure>${overviewPicture(text)}<figcaption>${text.overviewCaption}</figcaption></figure>
</div>
<section aria-labelledby="audiences"><h2 id="audiences">${text.audiencesTitle}</h2>
<ul class="cards">${text.audiences.map((audience) => html`<li><h3>${audience.title}</h3><p>${audience.text}</p><a href="${docs}/${audience.page}">${audience.link}</a></li>`)}</ul></section>
<section aria-labelledby="reasons"><h2 id="reasons">${text.reasonsTitle}</h2>
<ul class="cards reasons">${text.reasons.map((reason) => html`<li><h3>${reason.title}</h3><p class="soft">${reason.text}</p></li>`)}</ul></section>`;
  return site({ locale, path: '/', title: text.title, description: text.description, content }, publication);
};

const MISSING = {
  en: { title: 'Page not found', text: 'There is no page at this address.', home: 'To the start page' },
  it: { title: 'Pagina non trovata', text: 'A questo indirizzo non c’è nessuna pagina.', home: 'Alla pagina iniziale' },
} as const;

/** Renders the page at an unknown address for visitors who are not signed in. */
export const missingPage = (locale: Locale, publication: Publication): string => {
  const text = MISSING[locale];
  const content = html`<div class="missing"><h1>${text.title}</h1><p class="lead">${text.text}</p>
<p class="actions"><a class="button" href="/?locale=${locale}">${text.home}</a></p></div>`;
  return site({ locale, path: undefined, title: text.title, content }, publication);
};

interface Content {
  readonly locale: Locale;
  readonly path: '/' | undefined;
  readonly title: string;
  readonly description?: string;
  readonly content: Html;
}

const site = (page: Content, publication: Publication): string => renderSite({ ...page, style: STYLE, publication });
