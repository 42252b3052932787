import type { AutoTopUp } from '@svc/contracts';
import { MICROS_PER_UNIT } from '@svc/contracts';

/** Settings of an account that never set any. */
export const AUTO_TOP_UP_DEFAULTS: AutoTopUp = {
  enabled: false,
  below_micros: 5 * MICROS_PER_UNIT,
  amount_micros: 20 * MICROS_PER_UNIT,
  monthly_max_micros: 100 * MICROS_PER_UNIT,
};
