import { z } from 'zod';
import { descriptionSchema } from '../core/name.ts';

export const appReportReasons = ['impersonation', 'spam', 'misuse', 'other'] as const;

export type AppReportReason = (typeof appReportReasons)[number];

/** Longest comment on a report. */
export const REPORT_COMMENT_CHARACTERS_MAX = 500;

export const reportAppRequestSchema = z
  .strictObject({
    reason: z.enum(appReportReasons),
    comment: descriptionSchema(REPORT_COMMENT_CHARACTERS_MAX).trim().min(1).optional(),
  })
  .meta({ id: 'ReportAppRequest' });
