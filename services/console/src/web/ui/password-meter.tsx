import { type ReactElement, type RefObject, useEffect, useRef } from 'react';
import { useCoreI18n } from '../i18n/index.ts';

/** Owner of the password, as far as the page knows. */
export interface PasswordOwner {
  readonly email: string;
  readonly displayName: string | null;
  readonly businessName: string | null;
}

/**
 * Explains the strength of the password in a field. Loaded when the field gets the focus; the field works without it.
 */
export const PasswordMeter = ({
  field,
  owner,
}: {
  field: RefObject<HTMLInputElement | null>;
  owner: PasswordOwner;
}): ReactElement => {
  const { locale } = useCoreI18n();
  const slot = useRef<HTMLDivElement>(null);
  const { email, displayName, businessName } = owner;
  useEffect(() => {
    const input = field.current;
    const place = slot.current;
    if (input === null || place === null) return undefined;
    let isGone = false;
    let detach: (() => void) | undefined;
    const attach = async (): Promise<void> => {
      const { attachMeter } = await import('../strength/index.ts');
      if (isGone || detach !== undefined) return;
      detach = attachMeter({ field: input, slot: place, locale, owner: () => ({ email, displayName, businessName }) });
    };
    const start = (): void => void attach().catch(() => undefined);
    input.addEventListener('focus', start);
    if (document.activeElement === input) start();
    return () => {
      isGone = true;
      input.removeEventListener('focus', start);
      detach?.();
    };
  }, [field, locale, email, displayName, businessName]);
  return <div ref={slot} />;
};
