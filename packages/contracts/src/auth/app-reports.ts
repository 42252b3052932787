import { z } from 'zod';

export const appReportReasons = ['impersonation', 'spam', 'misuse', 'other'] as const;

export type AppReportReason = (typeof appReportReasons)[number];

/** Longest comment on a report. */
export const REPORT_COMMENT_CHARACTERS_MAX = 500;

export const reportAppRequestSchema = z
  .strictObject({
    reason: z.enum(appReportReasons),
    comment: z.string().trim().min(1).max(REPORT_COMMENT_CHARACTERS_MAX).optional(),
  })
  .meta({ id: 'ReportAppRequest' });
