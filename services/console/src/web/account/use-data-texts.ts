import { type Messages, useI18n } from '../i18n/index.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';

/** Returns the texts about the data of the account that the pages are about: a person's, or an organization's. */
export const useDataTexts = (): Messages['ownData'] => {
  const { ownData, organizationData } = useI18n().messages;
  const isForeign = foreignOrganizationOf(useAccount()) !== undefined;
  return isForeign ? { ...ownData, ...organizationData } : ownData;
};
