import { attachMeter } from './strength/index.ts';

/** Attaches a meter to a password field when it gets the focus, on pages without the console's script. */
const start = (field: HTMLInputElement): void => {
  const slot = document.createElement('div');
  field.after(slot);
  const textOf = (name: string): string => {
    const input = field.form?.elements.namedItem(name);
    return input instanceof HTMLInputElement ? input.value : '';
  };
  const owner = () => ({
    email: textOf('email'),
    displayName: textOf('display_name'),
    businessName: textOf('business_name'),
  });
  const attach = (): void => {
    field.removeEventListener('focus', attach);
    attachMeter({ field, slot, locale: document.documentElement.lang === 'en' ? 'en' : 'it', owner });
  };
  if (document.activeElement === field) attach();
  else field.addEventListener('focus', attach);
};

for (const field of document.querySelectorAll<HTMLInputElement>('input[autocomplete=new-password]')) start(field);
