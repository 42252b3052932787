import type { SandboxCard } from '@svc/contracts';
import { html, shield } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { pageReply } from './page.ts';
import { actionButton, actionForm, type PageForm } from './page-form.ts';

/** The one card whose bank asks its holder to confirm. */
const ASKING: SandboxCard = 'asks_to_confirm';

/** Renders the bank's question: the sandbox's 3-D Secure. */
export const challengePage = (form: PageForm, amount: string, redirects: readonly string[]): ReplyContent => {
  const { text } = form.language;
  const buttons = html`${actionButton('confirm', text.confirm, 'main')}${actionButton('fail', text.fail)}`;
  const body = html`<section><p class="bank">${shield()}${text.bank}</p><h1>${text.confirmTitle}</h1>
<p>${text.confirmText(amount)}</p>
<dl><div><dt>${text.merchant}</dt><dd>svc</dd></div>
<div><dt>${text.cardShort}</dt><dd>${text.cardNames[ASKING]}</dd></div>
<div class="total"><dt>${text.amount}</dt><dd>${amount}</dd></div></dl>
${actionForm(form, buttons)}</section>`;
  return pageReply({ title: text.confirmTitle, body, layout: 'dialog', language: form.language, redirects });
};
