import type { AppReportReason } from '@svc/contracts';

/** A user's report about an app. It outlives the app, so it keeps the app's name and owner. */
export interface AppReport {
  readonly clientId: string;
  readonly appName: string;
  readonly ownerUserId: string | null;
  readonly userId: string;
  readonly reportedAt: Date;
  readonly reason: AppReportReason;
  readonly comment: string | null;
  /** Set when an operator closes the report. */
  readonly closedAt: Date | null;
}

/** Reports about one app, summarized. */
export interface ReportSummary {
  readonly clientId: string;
  /** Name at the time of the last report. */
  readonly appName: string;
  readonly ownerUserId: string | null;
  readonly open: number;
  readonly reporters: number;
  readonly reasons: Partial<Record<AppReportReason, number>>;
  readonly lastReportedAt: Date;
}
