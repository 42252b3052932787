import { useEffect, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';

/** Returns the token of the mailed link, and removes it from the address, where others could read it. */
export const useMailedToken = (): string | undefined => {
  const [search] = useSearchParams();
  const [pathname, navigate] = useLocation();
  const [token] = useState(() => search.get('token') ?? undefined);
  const isInAddress = search.has('token');
  useEffect(() => {
    if (isInAddress) navigate(pathname, { replace: true });
  }, [isInAddress, navigate, pathname]);
  return token;
};
