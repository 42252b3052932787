/** Minimum and maximum length of a new password, as in the service. */
export const PASSWORD_CHARACTERS = { min: 12, max: 128 } as const;
