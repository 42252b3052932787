/** Least and greatest length of a new password, as the service wants it. */
export const PASSWORD_CHARACTERS = { min: 12, max: 128 } as const;
