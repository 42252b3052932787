import { AppError } from '@svc/service-kit';

/** `full`: headers, body extension and final chunk. `headers`: the body stays as the provider sent it. */
export type ComplianceMode = 'full' | 'headers';

/** The mode that `X-Svc-Compliance` asks for. Throws `compliance_mode_unsupported`: `1` belongs to regional routes. */
export const complianceModeOf = (header: string | undefined): ComplianceMode => {
  if (header === undefined || header === '2') return 'full';
  if (header === 'headers') return 'headers';
  throw new AppError('compliance_mode_unsupported');
};
