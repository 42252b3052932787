import { type Html, html } from './html.ts';

/** A page. */
export interface Page {
  readonly title: string;
  readonly main: Html;
  /** Who is connected in this browser. */
  readonly svcUserId?: string | undefined;
  /** The page asks for itself again after so many seconds. */
  readonly refreshSeconds?: number | undefined;
}

/** The whole document around a page. */
export const renderPage = ({ title, main, svcUserId, refreshSeconds }: Page): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · Sample partner</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/sample-partner.css">
<script type="module" src="/assets/sample-partner.js"></script>
</head>
<body>
<header>
<a class="brand" href="/">Sample partner</a>
<nav aria-label="Pages"><a href="/">Home</a> <a href="/inbox">Webhook inbox</a></nav>
${
  svcUserId !== undefined &&
  html`<div class="account">
<span>Connected as <code id="user">${svcUserId}</code></span>
<form method="post" action="/sign-out"><button>Sign out</button></form>
<form method="post" action="/disconnect"><button>Disconnect</button></form>
</div>`
}
</header>
<main>
${main}
</main>
<footer>A demonstration: what it keeps, it keeps in memory until it is started again.</footer>
</body>
</html>
`.text;
