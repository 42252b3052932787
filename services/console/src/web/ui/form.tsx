import type { ReactElement, ReactNode } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { ErrorNotice } from './error-notice.tsx';
import { Notice } from './notice.tsx';
import { useFocusAfterwards } from './use-focus-afterwards.ts';
import type { FormState } from './use-form.ts';

/** Renders a form with its errors above the fields. */
export const Form = <V extends object>({
  form,
  label,
  children,
}: {
  form: FormState<V>;
  label: string;
  children: ReactNode;
}): ReactElement => {
  const { messages } = useCoreI18n();
  useFocusAfterwards();
  return (
    <form className="form" aria-label={label} noValidate ref={form.formRef} onSubmit={form.onSubmit}>
      {form.hasFaults && (
        <Notice tone="bad" title={messages.faults.summary}>
          {form.otherFaults.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </Notice>
      )}
      {form.error !== undefined && <ErrorNotice error={form.error} />}
      {children}
    </form>
  );
};
