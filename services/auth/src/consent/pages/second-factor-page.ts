import { html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { field } from './form-field.ts';
import { type PageContext, pageFooter, pageForm } from './page-context.ts';
import { renderPage } from './page-layout.ts';
import { cancelForm } from './sign-in-page.ts';

/** Second step of a sign-in, as the page brings it back. */
export interface SecondStep {
  readonly challenge: string;
  readonly error?: string;
}

/** Asks for the second factor. One field takes a code of an authenticator app and a recovery code. */
export const secondFactorPage = (context: PageContext, { challenge, error }: SecondStep): ReplyContent => {
  const { text, query } = context;
  const content = html`
<h1>${text.secondFactorTitle}</h1>
<p class="soft wrap">${text.signInLead(context.appName)}</p>
${pageForm(
  context,
  'second-factor',
  html`
<input type="hidden" name="challenge" value="${challenge}">
${field({ name: 'code', label: text.code, type: 'text', autocomplete: 'one-time-code', hint: text.codeHint, isFirst: true, error })}
<button type="submit">${text.signIn}</button>`,
)}
${cancelForm(context)}
<p class="other"><a href="${context.authorizePath()}">${text.otherAccount}</a></p>
${pageFooter(context)}`;
  const page = { locale: query.locale, title: text.secondFactorTitle, content, formTarget: context.formTarget };
  return renderPage(200, page);
};
