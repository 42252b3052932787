import { useEffect, useState } from 'react';
import { useLocation, useNavigate, useSearchParams } from 'react-router';

/** Returns the token of the link that led here, and takes it out of the address, where others could read it. */
export const useMailedToken = (): string | undefined => {
  const [search] = useSearchParams();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const [token] = useState(() => search.get('token') ?? undefined);
  const isInAddress = search.has('token');
  useEffect(() => {
    if (isInAddress) void navigate(pathname, { replace: true });
  }, [isInAddress, navigate, pathname]);
  return token;
};
