import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';

/** Renders a link to another site, in a new tab. `about` distinguishes links with the same text for screen readers. */
export const OutsideLink = ({
  url,
  about,
  children,
}: {
  url: string;
  about?: string;
  children: string;
}): ReactElement => {
  const { common } = useCoreI18n().messages;
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
