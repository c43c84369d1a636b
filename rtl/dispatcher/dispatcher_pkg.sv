// SPDX-License-Identifier: Apache-2.0
// What the dispatcher's blocks share: the kernel's fields (docs/image_format.md) and the answers to a command.
package dispatcher_pkg;

    localparam int unsigned KernelBits = 1024;
    localparam int unsigned FieldWidth = 16;

    // The seven dimensions and the five levels of the template loop nest.
    localparam int unsigned Dims = 7;
    localparam int unsigned DimN = 0;
    localparam int unsigned DimK = 1;
    localparam int unsigned DimC = 2;
    localparam int unsigned DimP = 3;
    localparam int unsigned DimQ = 4;
    localparam int unsigned DimR = 5;
    localparam int unsigned DimS = 6;
    localparam int unsigned Levels = 5;
    localparam int unsigned LevelReg = 0;
    localparam int unsigned LevelPe = 1;
    localparam int unsigned LevelSpm = 2;
    localparam int unsigned LevelTile = 3;
    localparam int unsigned LevelUnit = 4;

    // The axes that the nest walks: the dimensions of the output.
    localparam int unsigned Axes = 4;
    localparam int unsigned AxisN = 0;
    localparam int unsigned AxisK = 1;
    localparam int unsigned AxisP = 2;
    localparam int unsigned AxisQ = 3;

    function automatic int unsigned axis_dim(input int unsigned axis);
        axis_dim = axis < DimC ? axis : axis + 1;
    endfunction

    // Byte offsets in a kernel.
    localparam int unsigned TotalsByte = 105;
    localparam int unsigned FlagsByte = 121;
    localparam int unsigned PadByte = 122;
    localparam int unsigned ReservedByte = 123;
    localparam int unsigned CrcByte = 126;

    // How a command ended.
    typedef enum logic [4:0] {
        StatusOk = 5'd0,
        // Kernel store
        StatusOutOfRange = 5'd1,   // the range of kernels reaches beyond the directory
        StatusUnsorted = 5'd2,     // the range's dyn_dims do not grow strictly
        StatusNoneFound = 5'd3,    // every dyn_dim of the range is less than the real one
        StatusFull = 5'd4,         // more kernels than the directory holds
        // Kernel fetch
        StatusFetchFailed = 5'd5,  // the scratchpad answers with an error
        StatusBadKernel = 5'd6,    // checksum, reserved byte or field
        StatusChanged = 5'd7,      // a good kernel, but not the one that was configured
        // Kernel fitting: rules of the template that the kernel breaks
        StatusUnits = 5'd8,        // iterates over units that are no equal parts of n
        StatusTiles = 5'd9,        // spreads q, c, r or s over tiles
        StatusPes = 5'd10,         // spreads c, r or s over PEs
        StatusReduction = 5'd11,   // does not cover c, r or s
        StatusRows = 5'd12,        // blocks of more than 65535 rows
        StatusUncovered = 5'd13,   // does not cover n, k, p or q
        StatusTooLong = 5'd14,     // reduces more than 2^32 products
        // Instructions
        StatusRefused = 5'd15,     // a block that the PE array refuses
        StatusSendRefused = 5'd16  // a send that the network interface refuses
    } status_e;

    typedef enum logic [2:0] {
        StateIdle = 3'd0,    // takes a command
        StateSearch = 3'd1,  // looks for the best fit
        StateFetch = 3'd2,   // reads, checks and fits the kernel
        StateIssue = 3'd3,   // walks the nest
        StateSend = 3'd4,    // has the output sent
        StateLoad = 3'd5,    // configure: reads one kernel after another
        StateResult = 3'd6   // answers
    } state_e;

    // A dispatch: what the dispatcher keeps of its request.
    typedef struct packed {
        logic [31:0] count;
        logic [FieldWidth:0] dyn_dim;  // one bit more: beyond what any kernel is made for
        logic [FieldWidth-1:0] rank;
        logic multicast;
        logic channelwise;
        logic [FieldWidth-1:0] in_channels;
        logic [FieldWidth-1:0] in_rows;
        logic [FieldWidth-1:0] in_columns;
        logic [31:0] input_offset;
        logic [31:0] weight_offset;
        logic [31:0] output_offset;
    } command_t;

    // What it keeps of the kernel, fitted to the real dyn_dim (kernel_fitting).
    typedef struct packed {
        logic vector_op;
        logic [3*FieldWidth-1:0] begins;
        logic [Axes*FieldWidth-1:0] extents;
        logic [Axes*FieldWidth-1:0] blocks;
        logic [Axes*FieldWidth-1:0] regs;
        logic [Axes*Axes-1:0] outer;
        logic [Axes*FieldWidth-1:0] all_blocks;
        logic [31:0] reduction;
        logic [3:0] row_stride;
        logic [3:0] column_stride;
        logic [7:0] pad;
        logic [FieldWidth-1:0] filter_rows;
    } fitted_t;

    // What an instruction word asks for; the parts of one block travel together.
    localparam int unsigned OpLoad = 0;
    localparam int unsigned OpMac = 1;
    localparam int unsigned OpStore = 2;
    localparam int unsigned OpUnicast = 3;
    localparam int unsigned OpMulticast = 4;
    localparam int unsigned Ops = 5;

    // One block of the nest as it waits to be issued. Positions and extents: of n, k, p, q in the tile's output box.
    typedef struct packed {
        logic [Ops-1:0] ops;
        logic first;
        logic last;
        logic [FieldWidth-1:0] rows;
        logic [FieldWidth-1:0] columns;
        logic [FieldWidth-1:0] row_outputs;
        logic [FieldWidth-1:0] column_outputs;
        logic [Axes*FieldWidth-1:0] position;
        logic [Axes*FieldWidth-1:0] extent;
        logic [31:0] input_address;
        logic [31:0] weight_address;
        logic [31:0] output_address;
    } instruction_t;
    localparam int unsigned InstructionBits = Ops + 2 + 4 * FieldWidth + 2 * Axes * FieldWidth + 3 * 32;

    // CRC-16/CCITT-FALSE of bytes 0 to 125, a byte at a time.
    function automatic logic [15:0] kernel_crc(input logic [KernelBits-1:0] kernel);
        logic [15:0] crc;
        logic [7:0] folded;
        crc = 16'hFFFF;
        for (int unsigned i = 0; i < CrcByte; i++) begin
            folded = crc[15:8] ^ kernel[8*i+:8];
            folded = folded ^ {4'b0, folded[7:4]};
            crc = {crc[7:0], 8'b0} ^ {folded[3:0], 12'b0} ^ {3'b0, folded, 5'b0} ^ {8'b0, folded};
        end
        kernel_crc = crc;
    endfunction

endpackage
