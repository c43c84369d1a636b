// SPDX-License-Identifier: Apache-2.0
// What enters the dot-product array in a cycle (SUSHI, section 4.2.1).
package dot_product_pkg;

    typedef enum logic [1:0] {
        Idle = 2'd0,
        Weights = 2'd1,  // one row keeps them
        Window = 2'd2    // every row multiplies them with its weights
    } kind_e;

endpackage
