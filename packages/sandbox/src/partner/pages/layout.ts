import { type Html, html, TEXT_FONT } from '@svc/pages';
import type { Texts } from '../texts/index.ts';

export interface Page {
  readonly texts: Texts;
  readonly title: string;
  readonly main: Html;
  /** The user connected in this browser. */
  readonly svcUserId?: string | undefined;
  /** Address of a further script. */
  readonly script?: string | undefined;
  /** Reloads the page after this many seconds. */
  readonly refreshSeconds?: number | undefined;
}

/** Renders the document around a page. */
export const renderPage = ({ texts, title, main, svcUserId, script, refreshSeconds }: Page): string =>
  html`<!doctype html>
<html lang="${texts.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · ${texts.brand}</title>
<link rel="icon" href="data:,">
<link rel="preload" as="font" type="font/woff2" href="${TEXT_FONT.path}" crossorigin>
<link rel="stylesheet" href="/assets/tokens.css">
<link rel="stylesheet" href="/assets/sample-partner.css">
<script type="module" src="/assets/sample-partner.js"></script>
${script !== undefined && html`<script type="module" src="${script}"></script>`}
</head>
<body>
<header>
<a class="brand" href="/">${texts.brand}</a>
<nav aria-label="${texts.pages}"><a href="/">${texts.home}</a> <a href="/inbox">${texts.inbox}</a> <a href="/browser">${texts.singlePage}</a></nav>
<form class="language" method="post" action="/language"><button name="language" value="${texts.otherLanguage.code}" lang="${texts.otherLanguage.code}">${texts.otherLanguage.name}</button></form>
${
  svcUserId !== undefined &&
  html`<div class="account">
<span>${texts.connectedAs} <code id="user">${svcUserId}</code></span>
<form method="post" action="/sign-out"><button>${texts.signOut}</button></form>
<form method="post" action="/disconnect"><button>${texts.disconnect}</button></form>
</div>`
}
</header>
<main>
${main}
</main>
<footer>${texts.footer}</footer>
</body>
</html>
`.markup;
