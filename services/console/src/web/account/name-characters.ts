/** Maximum length of names, as in the service. */
export const NAME_CHARACTERS = { display: 80, business: 120 } as const;
