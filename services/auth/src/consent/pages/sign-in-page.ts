import { type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { type PageContext, pageFooter, pageForm } from './page-context.ts';
import { renderPage } from './page-layout.ts';

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
<p class="other"><a href="/reset-password">${text.forgotten}</a></p>
${ssoLink(context)}
${cancelForm(context)}
<p class="other">${text.noAccount} <a href="${context.authorizePath({ prompt: 'create' })}">${text.toSignUp}</a></p>
${pageFooter(context)}`;
  return renderPage(200, { locale: query.locale, title: text.signInTitle, content, formTarget: context.formTarget });
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

const cancelForm = (context: PageContext): Html =>
  pageForm(
    context,
    'decision',
    html`<button class="second" type="submit" name="decision" value="deny">${context.text.cancel}</button>`,
  );

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: 'email' | 'password' | 'text';
  readonly autocomplete: string;
  readonly value?: string;
  readonly isFirst?: boolean;
  readonly isInvalid?: boolean;
  readonly isOptional?: boolean;
  readonly error?: string | undefined;
  readonly lengthMin?: number;
}

const field = (options: Field): Html => {
  const { name, error } = options;
  const isInvalid = options.isInvalid === true || error !== undefined;
  const errorId = error === undefined ? 'form-error' : `${name}-error`;
  return html`
<label for="${name}">${options.label}</label>
<input id="${name}" name="${name}" type="${options.type}" autocomplete="${options.autocomplete}"${[
    options.value === undefined ? undefined : html` value="${options.value}"`,
    options.isOptional === true ? undefined : html` required`,
    options.lengthMin === undefined ? undefined : html` minlength="${options.lengthMin}" maxlength="128"`,
    options.type === 'email' ? html` maxlength="254" spellcheck="false" autocapitalize="none"` : undefined,
    isInvalid ? html` aria-invalid="true" aria-describedby="${errorId}"` : undefined,
    options.isFirst === true ? html` autofocus` : undefined,
  ]}>
${error === undefined ? undefined : html`<p class="alert near" role="alert" id="${errorId}">${error}</p>`}`;
};
