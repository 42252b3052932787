/** Result of one check. `unknown`: it could not be made here, which is no fault. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'ATTENTION' | 'unknown';
  readonly detail: string;
}

export const finding = (check: string, isGood: boolean, detail: string): Finding => ({
  check,
  state: isGood ? 'ok' : 'ATTENTION',
  detail,
});

export const unknown = (check: string, detail: string): Finding => ({ check, state: 'unknown', detail });
