import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const SETTINGS = new URL('../../settings.yaml', import.meta.url);
const settingsSchema = z.strictObject({ runbooks_url: z.url({ protocol: /^https$/ }).regex(/[^/]$/) });

/** Address of the folder of runbooks, as this copy publishes it. */
export const RUNBOOKS_URL = settingsSchema.parse(parse(readFileSync(SETTINGS, 'utf8'))).runbooks_url;

/** Returns the address of an alert's page, which is named after the alert. */
export const runbookUrl = (alert: string, heading?: string): string =>
  `${RUNBOOKS_URL}/${kebabCase(alert)}.md${heading === undefined ? '' : `#${heading}`}`;

const kebabCase = (name: string): string => name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
