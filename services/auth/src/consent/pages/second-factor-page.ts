import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { SecondStep } from '../../sessions/index.ts';
import { field } from './form-field.ts';
import { type PageContext, pageFooter, pageForm } from './page-context.ts';
import { renderPage } from './page-layout.ts';
import { PASSKEY_SCRIPT, passkeyForm } from './passkey-form.ts';
import { cancelForm } from './sign-in-page.ts';

/** Asks for the second factor. One field takes a code of an authenticator app and a recovery code. */
export const secondFactorPage = (
  context: PageContext,
  { step, error }: { step: SecondStep; error?: string },
): ReplyContent => {
  const { text, query } = context;
  const challenge = html`<input type="hidden" name="challenge" value="${step.challenge}">`;
  const content = html`
<h1>${text.secondFactorTitle}</h1>
<p class="soft wrap">${text.signInLead(context.appName)}</p>
${step.passkeyOptions && passkeyForm(context, { action: 'second-factor', options: step.passkeyOptions, fields: challenge })}
${pageForm(context, 'second-factor', html`${challenge}${codeField(context, { step, error })}<button type="submit">${text.signIn}</button>`)}
${cancelForm(context)}
<p class="other"><a href="${context.authorizePath()}">${text.otherAccount}</a></p>
${pageFooter(context)}`;
  const page = { locale: query.locale, title: text.secondFactorTitle, content, formTarget: context.formTarget };
  return renderPage(200, step.passkeyOptions === undefined ? page : { ...page, script: PASSKEY_SCRIPT });
};

const codeField = ({ text }: PageContext, { step, error }: { step: SecondStep; error: string | undefined }): Html => {
  const hasTotp = step.factors.includes('totp');
  return field({
    name: 'code',
    label: hasTotp ? text.code : text.recoveryCode,
    hint: hasTotp ? text.codeHint : text.recoveryCodeHint,
    type: 'text',
    autocomplete: hasTotp ? 'one-time-code' : 'off',
    isFirst: true,
    error,
  });
};
