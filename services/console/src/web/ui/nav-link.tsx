import type { ComponentProps, ReactElement } from 'react';
import { Link, useLocation } from 'wouter';

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
