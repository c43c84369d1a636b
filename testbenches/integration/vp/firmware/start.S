# SPDX-License-Identifier: Apache-2.0
# Begin of every program: a stack, the trap vector, main(); the hart stops in `halted`.
    .option arch, +zicsr
    .section .text.start, "ax"
    .globl _start
_start:
    la sp, stack_top
    la t0, trap_entry
    csrw mtvec, t0
    la t0, bss_begin
    la t1, bss_end
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:  call main
    .globl halted
halted:
    j halted

# Saves what a C function may change and calls handle_trap(mcause, mepc), which returns the address to go on at.
    .text
    .align 2
    .globl trap_entry
trap_entry:
    addi sp, sp, -64
    sw ra, 0(sp)
    sw t0, 4(sp)
    sw t1, 8(sp)
    sw t2, 12(sp)
    sw a0, 16(sp)
    sw a1, 20(sp)
    sw a2, 24(sp)
    sw a3, 28(sp)
    sw a4, 32(sp)
    sw a5, 36(sp)
    sw a6, 40(sp)
    sw a7, 44(sp)
    sw t3, 48(sp)
    sw t4, 52(sp)
    sw t5, 56(sp)
    sw t6, 60(sp)
    csrr a0, mcause
    csrr a1, mepc
    call handle_trap
    csrw mepc, a0
    lw ra, 0(sp)
    lw t0, 4(sp)
    lw t1, 8(sp)
    lw t2, 12(sp)
    lw a0, 16(sp)
    lw a1, 20(sp)
    lw a2, 24(sp)
    lw a3, 28(sp)
    lw a4, 32(sp)
    lw a5, 36(sp)
    lw a6, 40(sp)
    lw a7, 44(sp)
    lw t3, 48(sp)
    lw t4, 52(sp)
    lw t5, 56(sp)
    lw t6, 60(sp)
    addi sp, sp, 64
    mret

# For programs that expect no trap.
    .weak handle_trap
handle_trap:
    j handle_trap

# The hart, for C: which interrupts it takes, when, and sleep until one of them is due.
    .globl hart_enable
hart_enable:
    csrw mie, a0
    ret
    .globl hart_lock
hart_lock:
    csrci mstatus, 8
    ret
    .globl hart_unlock
hart_unlock:
    csrsi mstatus, 8
    ret
    .globl hart_wait
hart_wait:
    wfi
    ret
