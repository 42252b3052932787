import { type Html, html } from '@svc/pages';
import type { Heading } from '../markdown/index.ts';
import { ROOT } from '../site/index.ts';

/** A group of links in the navigation. */
export interface NavigationSection {
  readonly title: string;
  readonly links: readonly PageLink[];
}

export interface PageLink {
  readonly address: string;
  readonly title: string;
}

/** Content of a page. */
export interface Page extends PageLink {
  readonly content: Html;
  /** The same page as Markdown. */
  readonly markdown: string;
  readonly headings: readonly Heading[];
}

/** Frame around every page. */
export interface Frame {
  readonly navigation: readonly NavigationSection[];
  readonly stylesheet: string;
  readonly script: string;
  readonly searchIndex: string;
}

/** Deepest heading level in the list beside the page. */
const OUTLINE_LEVEL_MAX = 2;
const OUTLINE_HEADINGS_MIN = 2;

/** Renders the document of a page. */
export const renderPage = (page: Page, frame: Frame): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.address === ROOT ? 'svc documentation' : `${page.title} · svc documentation`}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${frame.stylesheet}">
<script type="module" src="${frame.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(frame)}
<div class="frame">
${navigation(page, frame)}
<main id="content" tabindex="-1">
<article>
${page.content}
</article>
${steps(page, frame)}
</main>
${outline(page)}
</div>
<footer><a href="/">Console</a> <a href="${ROOT}">Documentation</a> <a href="/v1/openapi.json">OpenAPI document</a></footer>
</body>
</html>
`.markup;

const header = ({ searchIndex }: Frame): Html => html`<header>
<a class="brand" href="${ROOT}"><svg viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="9" class="brand-ground"/><path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" class="brand-line"/></svg><span>svc <span class="brand-what">docs</span></span></a>
<div class="search" role="search" data-index="${searchIndex}">
<input type="search" id="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-label="Search the documentation" aria-controls="search-results">
<div id="search-results" class="search-results" aria-live="polite"></div>
</div>
<button type="button" class="theme">Dark</button>
<a class="to-console" href="/">Console</a>
</header>`;

const navigation = (page: Page, frame: Frame): Html => html`<details class="menu">
<summary>All pages</summary>
<nav aria-label="Documentation">
${frame.navigation.map(
  ({ title, links }) => html`<h2>${title}</h2>
<ul>${links.map((link) => html`<li><a href="${link.address}"${link.address === page.address && html` aria-current="page"`}>${link.title}</a></li>`)}</ul>
`,
)}</nav>
</details>`;

const outline = ({ headings }: Page): Html | false => {
  const shown = headings.filter(({ level }) => level <= OUTLINE_LEVEL_MAX);
  if (shown.length < OUTLINE_HEADINGS_MIN) return html`<div class="outline"></div>`;
  return html`<nav class="outline" aria-label="On this page"><h2>On this page</h2>
<ul>${shown.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>
</nav>`;
};

/** Renders links to the previous and next page. */
const steps = (page: Page, { navigation: sections }: Frame): Html | false => {
  const section = sections.find(({ links }) => links.some(({ address }) => address === page.address));
  if (section === undefined) return false;
  const place = section.links.findIndex(({ address }) => address === page.address);
  const [before, after] = [section.links[place - 1], section.links[place + 1]];
  return html`<nav class="steps" aria-label="Before and after">
${before !== undefined && html`<a href="${before.address}" rel="prev"><span>Before</span> ${before.title}</a>`}
${after !== undefined && html`<a class="next" href="${after.address}" rel="next"><span>Next</span> ${after.title}</a>`}
</nav>`;
};
