/** A model without a view: it only carries the state that the linked views share. */
export default { initialize() {} };
