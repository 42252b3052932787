import type { AppReportReason } from '@svc/contracts';

/** A user's report about an app. */
export interface AppReport {
  readonly clientId: string;
  readonly userId: string;
  readonly reportedAt: Date;
  readonly reason: AppReportReason;
  readonly comment: string | null;
}

/** Reports about one app together. */
export interface ReportSummary {
  readonly clientId: string;
  readonly reporters: number;
  readonly reasons: Partial<Record<AppReportReason, number>>;
  readonly lastReportedAt: Date;
}
