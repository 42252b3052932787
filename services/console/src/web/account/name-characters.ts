/** Greatest length of names, as the service accepts them. */
export const NAME_CHARACTERS = { display: 80, business: 120 } as const;
