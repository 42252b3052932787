import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { SecondStep } from '../../sessions/index.ts';
import { field } from './form-field.ts';
import { renderPage } from './page-layout.ts';
import { PASSKEY_SCRIPT, passkeyForm } from './passkey-form.ts';
import type { SignInFrame } from './sign-in-frame.ts';

/** Second step of a sign-in, with its error. */
export interface AskedStep {
  readonly step: SecondStep;
  readonly error?: string | undefined;
}

/** Renders the form for the second factor. One field takes a code of an authenticator app or a recovery code. */
export const secondFactorPage = (frame: SignInFrame, asked: AskedStep): ReplyContent => {
  const { text, locale, lead, formTarget, referrerPolicy } = frame;
  const { challenge, passkeyOptions: options } = asked.step;
  const fields = html`<input type="hidden" name="challenge" value="${challenge}">`;
  const content = html`
<h1>${text.secondFactorTitle}</h1>
<p class="soft wrap">${lead}</p>
${options && passkeyForm(frame, { name: 'second-factor', options, fields })}
${frame.form('second-factor', html`${fields}${codeField(frame, asked)}<button type="submit">${text.signIn}</button>`)}
${frame.cancel}
<p class="other"><a href="${frame.signInPath}">${text.otherAccount}</a></p>
${frame.footer}`;
  const script = options && PASSKEY_SCRIPT;
  return renderPage(200, { locale, title: text.secondFactorTitle, content, formTarget, referrerPolicy, script });
};

const codeField = ({ text }: SignInFrame, { step, error }: AskedStep): Html => {
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
