import type { ReactElement, ReactNode } from 'react';
import { useEffect } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { ErrorNotice, Notice } from './error-notice.tsx';
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
      {form.isRestored && <Notice>{messages.common.restored}</Notice>}
      {(form.faultCount > 1 || form.otherFaults.length > 0) && (
        <Notice tone="bad" title={form.faultCount === 0 ? undefined : messages.faults.summary}>
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

/** Moves the focus to the page after the component is gone, if its action removed the button that had the focus. */
export const useFocusAfterwards = (): void => useEffect(() => keepFocusAfterwards, []);

const keepFocusAfterwards = (): void => {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
  });
};
