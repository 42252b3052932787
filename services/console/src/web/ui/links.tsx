import type { ComponentProps, ReactElement } from 'react';
import { Link, useLocation } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';

/** Renders a link to a page, marked while that page is open. With `end` false, pages below it count too. */
export const NavLink = ({
  to,
  end = false,
  ...rest
}: { to: string; end?: boolean } & Omit<ComponentProps<'a'>, 'href'>): ReactElement => {
  const [path] = useLocation();
  const isCurrent = path === to || (!end && path.startsWith(`${to}/`));
  return <Link {...rest} to={to} aria-current={isCurrent ? 'page' : undefined} />;
};

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
