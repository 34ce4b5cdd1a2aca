/** The open popovers and dialogs, the topmost one last. */
const layers: Element[] = [];

/** Notes a layer that has opened above all others. Returns the function that notes its end. */
export function addLayer(layer: Element): () => void {
  layers.push(layer);
  return () => void layers.splice(layers.indexOf(layer), 1);
}

/** The dialog that is open above all others. */
export function topDialog(): Element | undefined {
  return layers.findLast((layer) => layer.matches('dialog'));
}

/** Whether a layer is the topmost one, which Escape closes. */
export function isTopLayer(layer: Element): boolean {
  return layers.at(-1) === layer;
}
