/** What every view works with. */
import { createContext, useContext } from "react";
import { useSpeaker } from "../lib/i18n";
import { Capability, Webhooks } from "./webhooks";
import { Key } from "./words";

export interface Portal {
  webhooks: Webhooks;
  /** undefined: everything, as the API says. */
  capabilities?: Capability[];
}

export const PortalContext = createContext<Portal>(undefined as unknown as Portal);

export function usePortal() {
  const portal = useContext(PortalContext);
  const may = (...any: Capability[]) => portal.capabilities === undefined || any.some((one) => portal.capabilities!.includes(one));
  return {
    webhooks: portal.webhooks,
    mayManage: may("ManageEndpoint"),
    maySend: may("CreateAttempts"),
    maySeeSecret: may("ViewEndpointSecret", "ManageEndpointSecret", "ManageEndpoint"),
    mayRotate: may("ManageEndpointSecret", "ManageEndpoint"),
  };
}

export const useWords = () => useSpeaker<Key>();
