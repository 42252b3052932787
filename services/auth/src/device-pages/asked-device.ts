import { type Locale, localeSchema, routes } from '@svc/contracts';
import { z } from 'zod';
import type { FormTokens } from '../consent/index.ts';

/** Part of a request that the pages and their forms carry along. */
export const askedDeviceSchema = z.object({
  locale: localeSchema,
  /** Digest of the device code, once the person has named its request. */
  device: z.base64url().optional(),
});

export type AskedDevice = z.infer<typeof askedDeviceSchema>;
export type DeviceFormTokens = FormTokens<AskedDevice>;

const LETTERS_PER_GROUP = 4;

/** Returns the code as devices show it. */
export const showUserCode = (code: string): string =>
  `${code.slice(0, LETTERS_PER_GROUP)}-${code.slice(LETTERS_PER_GROUP)}`;

/** Returns the stored form of what a person has typed: in any case, with or without the dash. */
export const normalizeUserCode = (typed: string): string => typed.toUpperCase().replace(/[\s\p{Pd}]/gu, '');

/** Returns the path of the page on which people enter a code, or confirm one. */
export const devicePath = (locale: Locale, userCode?: string): string => {
  const named = userCode === undefined ? {} : { user_code: showUserCode(userCode) };
  return `${routes.showDevicePage.path}?${new URLSearchParams({ ...named, locale })}`;
};
