import { type PasskeyAssertion, passkeyAssertionSchema } from '@svc/contracts';

/** Parses the assertion that the page's script puts into a form. Returns undefined if it is malformed. */
export const readAssertion = (field: string): PasskeyAssertion | undefined => {
  try {
    return passkeyAssertionSchema.safeParse(JSON.parse(field)).data;
  } catch {
    return undefined;
  }
};
