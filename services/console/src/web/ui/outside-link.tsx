import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';

/** A link to another site, in a new tab. `about` tells screen readers apart what several links share in words. */
export const OutsideLink = ({
  url,
  about,
  children,
}: {
  url: string;
  about?: string;
  children: string;
}): ReactElement => {
  const { common } = useI18n().messages;
  return (
    <a className="outside-link" href={url} target="_blank" rel="noopener noreferrer">
      {children}
      <Icon name="external" />
      <span className="visually-hidden">
        {about !== undefined && ` ${about}`} {common.newTab}
      </span>
    </a>
  );
};
