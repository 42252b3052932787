/** A UUID of version 7 that is older than any of a run. */
export const FIRST_EPOCH = '01890000-0000-7000-8000-000000000001';
