import { defineStyle, html, type Page, THEME } from '@svc/pages';
import type { InboxMail } from './inbox.ts';

const STYLE = defineStyle(
  THEME,
  `main { max-width: 48rem; margin: 0 auto; padding: 2rem 1rem }
article { margin: 1rem 0; padding: 1rem; border: 1px solid currentColor; border-radius: .75rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap; font: inherit }
small { opacity: .75 }`,
);

/** Returns the page of the inbox. Mails appear as text, so that no mail can put markup into it. */
export const inboxPage = (mails: readonly InboxMail[], to: string | undefined): Page => ({
  locale: 'en',
  title: 'Sandbox mail',
  style: STYLE,
  body: html`<main>
<h1>Sandbox mail</h1>
<p>Mails of this machine${to !== undefined && html` to ${to}`}, newest first. None leaves it.</p>
${mails.length === 0 && html`<p>No mail yet.</p>`}
${mails.map(articleOf)}
</main>`,
});

const articleOf = (mail: InboxMail) => html`<article>
<h2>${mail.subject}</h2>
<small>to <a href="/sandbox/mail?to=${encodeURIComponent(mail.to)}">${mail.to}</a>, ${mail.created_at}</small>
<pre>${mail.text}</pre>
${mail.links.map((link) => html`<p><a href="${link}">${link}</a></p>`)}
</article>`;
