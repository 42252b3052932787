import { AppError } from '@svc/service-kit';

/** `full`: headers, body extension and final chunk. `headers`: the body stays as the provider sent it. */
export type ComplianceMode = 'full' | 'headers';

/** Parses `X-Svc-Compliance`. Throws `compliance_mode_unsupported`, also for `1`, which is for regional routes. */
export const complianceModeOf = (header: string | undefined): ComplianceMode => {
  if (header === undefined || header === '2') return 'full';
  if (header === 'headers') return 'headers';
  throw new AppError('compliance_mode_unsupported');
};
