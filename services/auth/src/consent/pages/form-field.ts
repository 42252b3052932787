import { type Html, html } from '@svc/pages';

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
  readonly hint?: string;
}

/** Renders a labeled input with its error. */
export const field = (options: Field): Html => {
  const { name, error } = options;
  const isInvalid = options.isInvalid === true || error !== undefined;
  const errorId = error === undefined ? 'form-error' : `${name}-error`;
  const described = [options.hint === undefined ? undefined : `${name}-hint`, isInvalid ? errorId : undefined].filter(
    (id) => id !== undefined,
  );
  return html`
<label for="${name}">${options.label}</label>
<input id="${name}" name="${name}" type="${options.type}" autocomplete="${options.autocomplete}"${[
    options.value === undefined ? undefined : html` value="${options.value}"`,
    options.isOptional === true ? undefined : html` required`,
    options.lengthMin === undefined ? undefined : html` minlength="${options.lengthMin}" maxlength="128"`,
    options.type === 'email' ? html` maxlength="254" spellcheck="false" autocapitalize="none"` : undefined,
    isInvalid ? html` aria-invalid="true"` : undefined,
    described.length > 0 ? html` aria-describedby="${described.join(' ')}"` : undefined,
    options.isFirst === true ? html` autofocus` : undefined,
  ]}>
${options.hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${options.hint}</p>`}
${error === undefined ? undefined : html`<p class="alert near" role="alert" id="${errorId}">${error}</p>`}`;
};
