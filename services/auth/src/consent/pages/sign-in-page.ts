import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { field } from './form-field.ts';
import { type PageContext, pageFooter, pageForm } from './page-context.ts';
import { renderPage } from './page-layout.ts';
import { PASSKEY_SCRIPT, passkeyForm } from './passkey-form.ts';

/** What was typed and what was wrong with it, by field; `form` is about the whole. */
export interface FormState {
  readonly email: string;
  readonly displayName: string;
  readonly errors: Partial<Record<'form' | 'email' | 'password' | 'displayName', string>>;
}

/** A form that nobody has sent yet. */
const emptyForm: FormState = { email: '', displayName: '', errors: {} };

/** Asks for address and password. */
export const signInPage = (context: PageContext, state: FormState = emptyForm): ReplyContent => {
  const { text, query } = context;
  const content = html`
<h1>${text.signInTitle}</h1>
<p class="soft wrap">${text.signInLead(context.appName)}</p>
${alertOf(state)}
${pageForm(
  context,
  'sign-in',
  html`
${field({ name: 'email', label: text.email, type: 'email', autocomplete: 'username', value: state.email, isFirst: state.email === '' })}
${field({ name: 'password', label: text.password, type: 'password', autocomplete: 'current-password', isFirst: state.email !== '', isInvalid: state.errors.form !== undefined })}
<button type="submit">${text.signIn}</button>`,
)}
${passkeyForm(context, { action: 'passkey', options: context.passkeyOptions })}
${ssoLink(context)}
${cancelForm(context)}
<p class="other">${text.noAccount} <a href="${context.authorizePath({ prompt: 'create' })}">${text.toSignUp}</a></p>
${pageFooter(context)}`;
  const page = { locale: query.locale, title: text.signInTitle, content, formTarget: context.formTarget };
  return renderPage(200, { ...page, script: PASSKEY_SCRIPT });
};

/** Asks for what a personal account needs. */
export const signUpPage = (context: PageContext, state: FormState = emptyForm): ReplyContent => {
  const { text, query } = context;
  const { errors } = state;
  const content = html`
<h1>${text.signUpTitle}</h1>
<p class="soft wrap">${text.signInLead(context.appName)}</p>
${alertOf(state)}
${pageForm(
  context,
  'sign-up',
  html`
${field({ name: 'email', label: text.email, type: 'email', autocomplete: 'username', value: state.email, isFirst: errors.password === undefined, error: errors.email })}
${field({ name: 'password', label: text.newPassword, type: 'password', autocomplete: 'new-password', isFirst: errors.password !== undefined, error: errors.password, lengthMin: 12 })}
${field({ name: 'display_name', label: text.displayName, type: 'text', autocomplete: 'name', value: state.displayName, error: errors.displayName, isOptional: true })}
<button type="submit">${text.signUp}</button>`,
)}
${cancelForm(context)}
<p class="other">${text.hasAccount} <a href="${context.authorizePath()}">${text.toSignIn}</a></p>
${pageFooter(context)}`;
  return renderPage(200, { locale: query.locale, title: text.signUpTitle, content, formTarget: context.formTarget });
};

const alertOf = ({ errors }: FormState): Html | undefined =>
  errors.form === undefined ? undefined : html`<p class="alert" role="alert" id="form-error">${errors.form}</p>`;

const ssoLink = ({ ssoPath, ssoName, text }: PageContext): Html | undefined =>
  ssoPath === undefined ? undefined : html`<a class="second" href="${ssoPath}">${text.singleSignOn(ssoName)}</a>`;

/** Offers to deny the app's request and return to it. */
export const cancelForm = (context: PageContext): Html =>
  pageForm(
    context,
    'decision',
    html`<button class="second" type="submit" name="decision" value="deny">${context.text.cancel}</button>`,
  );
